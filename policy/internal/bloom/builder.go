package bloom

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// A Builder is a policy.Builder.
type Builder struct {
	builder.Buffer[uint32]
	setting *builder.Setting
}

// NewBuilder returns an empty builder. If distinct, it leaves out repetitions.
func NewBuilder(s *builder.Setting, distinct bool) *Builder {
	return &Builder{
		builder.Buffer[uint32]{Pool: &builder.Chunks32, Distinct: distinct}, s,
	}
}

// Add adds a key.
func (b *Builder) Add(key []byte) {
	h := HashTail(HashWords(HashStart(key), key), key)
	if b.Repeats(h) {
		return
	}
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

// Finish appends the filter of the keys to dst, and starts over.
func (b *Builder) Finish(dst []byte) []byte {
	extended, filter := AppendZeros(dst, b.setting, b.N)
	array := filter[:len(filter)-1]
	m := newModulus(len(array))
	for hashes := range b.All {
		setProbes(array, m, hashes, K(b.setting))
	}
	return b.Buffer.Finish(extended, len(dst), b.setting)
}

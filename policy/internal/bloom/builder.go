package bloom

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// A Builder is a policy.Builder.
type Builder interface {
	Add(key []byte)
	Len() int
	Finish(dst []byte) []byte
}

// NewBuilder returns an empty builder of filters of a setting.
func NewBuilder(s *Setting) Builder {
	if s.Tuning > 0 {
		return newTuningBuilder(s)
	}
	b := newHashBuilder(s)
	return &b
}

// A hashBuilder builds filters of the size and k of its setting.
type hashBuilder struct {
	builder.Buffer[uint32]
	setting *Setting
}

func newHashBuilder(s *Setting) hashBuilder {
	return hashBuilder{builder.Buffer[uint32]{Pool: &builder.Chunks32}, s}
}

func (b *hashBuilder) Add(key []byte) {
	h := HashTail(HashWords(HashStart(key), key), key)
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

func (b *hashBuilder) Finish(dst []byte) []byte {
	b.Settle()
	extended, filter := b.setting.extend(dst, b.N)
	b.fill(filter)
	extended = b.verified(extended, len(dst))
	b.Reset()
	return extended
}

// verified verifies the filter in dst from start on if the setting says so.
func (b *hashBuilder) verified(dst []byte, start int) []byte {
	if b.setting.Verify {
		return builder.Verified(dst, start, &b.Buffer, HasAll)
	}
	return dst
}

// fill sets the probes of all keys. The filter has its k.
func (b *hashBuilder) fill(filter []byte) {
	for hashes := range b.All {
		set(filter, hashes)
	}
}

// fillOne sets probe j of all keys.
func (b *hashBuilder) fillOne(filter []byte, j int) {
	array := filter[:len(filter)-1]
	m := newModulus(len(array))
	for hashes := range b.All {
		for _, h := range hashes {
			setProbe(array, m, h+uint32(j)*Delta(h))
		}
	}
}

package bloom

import "github.com/levelbloom/levelbloom/policy/internal/builder"

// A Builder is a policy.Builder.
type Builder interface {
	Add(key []byte)
	Len() int
	Finish(dst []byte) []byte
}

// NewBuilder returns an empty builder of filters of a setting. AVX-512 makes it faster.
func NewBuilder(s *Setting) Builder {
	if s.Tuning > 0 {
		return newTuningBuilder(s)
	}
	return newHashBuilder(s)
}

// A hashBuilder builds filters of the size and k of its setting. Once settle has been called, it
// can write others of the same keys too.
type hashBuilder interface {
	Builder
	settle() (n int) // ends the adding of keys
	fill(filter []byte)
	fillOne(filter []byte, j int)
	verified(dst []byte, start int) []byte
	Reset()
}

// plainBuilder is the hashBuilder in plain Go.
type plainBuilder struct {
	builder.Buffer[uint32]
	setting *Setting
}

func newPlainBuilder(s *Setting) plainBuilder {
	return plainBuilder{builder.Buffer[uint32]{Pool: &builder.Chunks32}, s}
}

func (b *plainBuilder) Add(key []byte) {
	h := HashTail(HashWords(HashStart(key), key), key)
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

func (b *plainBuilder) settle() (n int) {
	b.Settle()
	return b.N
}

func (b *plainBuilder) Finish(dst []byte) []byte {
	extended, filter := b.setting.extend(dst, b.settle())
	b.fill(filter)
	extended = b.verified(extended, len(dst))
	b.Reset()
	return extended
}

// verified verifies the filter in dst from start on if the setting says so.
func (b *plainBuilder) verified(dst []byte, start int) []byte {
	if b.setting.Verify {
		return builder.Verified(dst, start, &b.Buffer, HasAll)
	}
	return dst
}

// fill sets the probes of all keys. The filter has its k.
func (b *plainBuilder) fill(filter []byte) {
	for hashes := range b.All {
		set(filter, hashes)
	}
}

// fillOne sets probe j of all keys.
func (b *plainBuilder) fillOne(filter []byte, j int) {
	array := filter[:len(filter)-1]
	m := newModulus(len(array))
	for hashes := range b.All {
		for _, h := range hashes {
			setProbe(array, m, h+uint32(j)*Delta(h))
		}
	}
}

package ribbon

import (
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// A Builder is a policy.Builder.
type Builder struct {
	builder.Buffer[uint64]
	setting *builder.Setting
}

// NewBuilder returns an empty builder. If distinct, it leaves out repetitions.
func NewBuilder(s *builder.Setting, distinct bool) *Builder {
	return &Builder{
		builder.Buffer[uint64]{Pool: &builder.Chunks64, Distinct: distinct}, s,
	}
}

// Hash is the hash of a key: XXH3 with 64 bits and seed 0.
//
// XXH3 is well tested, and zeebo/xxh3 is widely used. It returns the same hash on all platforms,
// and depends only on klauspost/cpuid, which detects the processor's vector instructions.
func Hash(key []byte) uint64 { return xxh3.Hash(key) }

// Add adds a key.
func (b *Builder) Add(key []byte) {
	h := Hash(key)
	if b.Repeats(h) {
		return
	}
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

// Finish appends the filter of the keys to dst, and starts over. A filter of no keys is LevelDB's.
func (b *Builder) Finish(dst []byte) []byte {
	var extended []byte
	if b.N > 0 {
		extended = b.encode(dst)
	} else {
		extended, _ = bloom.AppendZeros(dst, b.setting, 0)
	}
	return b.Buffer.Finish(extended, len(dst), b.setting)
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// encode appends the filter of the keys to dst, or Replacement if they are too many.
func (b *Builder) encode(dst []byte) []byte {
	if b.N > maxKeys {
		return append(dst, builder.Replacement...)
	}
	e := encoders.Get().(*encoder)
	e.split(&b.Buffer)
	size := Size(b.N, b.setting.BitsPerKey)
	dst = slices.Grow(dst, size)[:len(dst)+size]
	e.write(dst[len(dst)-size:])
	if b.N <= builder.KeptHashes {
		encoders.Put(e)
	}
	return dst
}

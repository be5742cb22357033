package policy

import (
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

type ribbonBuilder struct {
	builder.Buffer[uint64]
	few    fewHashes
	ribbon *Ribbon
}

// fewHashes has LevelDB's hash of every key of a builder, each hash once, as long as there are at
// most mostFew of them. The hashes of ribbon filters do not tell them.
type fewHashes struct {
	hashes [mostFew]uint32
	n      int // of hashes; mostFew+1: there are more
}

// mostFew is the largest number of keys whose filter may be of LevelDB's encoding: 28 with 2 bits
// per key, 7 with 8 or more.
const mostFew = 28

func (f *fewHashes) add(key []byte) {
	if f.n > mostFew {
		return
	}
	h := Hash(key)
	if slices.Contains(f.hashes[:f.n], h) {
		return
	}
	if f.n < mostFew {
		f.hashes[f.n] = h
	}
	f.n++
}

func (b *ribbonBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
	if b.Distinct || b.N <= b.ribbon.few { // many may become few only if repetitions are left out
		b.few.add(key)
	}
}

// A ribbonWork is memory for the construction of a filter.
type ribbonWork struct {
	ribbon.Builder
	parts [][]uint64
}

var ribbonWorks = sync.Pool{New: func() any { return new(ribbonWork) }}

func (b *ribbonBuilder) Finish(dst []byte) []byte {
	b.Settle()
	write := b.write
	if b.ribbon.areFew(b.N) {
		write = b.writeFew
	}
	extended, ok := write(dst)
	switch {
	case !ok:
		extended = append(dst, builder.Replacement...)
	case b.ribbon.verify:
		extended = builder.Verified(extended, len(dst), &b.Buffer, b.hasAll)
	}
	b.Reset()
	b.few.n = 0
	return extended
}

// write appends the ribbon filter of the keys to dst. It returns false if they are too many.
func (b *ribbonBuilder) write(dst []byte) ([]byte, bool) {
	work := ribbonWorks.Get().(*ribbonWork)
	for hashes := range b.All {
		work.parts = append(work.parts, hashes)
	}
	extended, ok := work.Build(dst, work.parts, b.ribbon.bitsPerKey)
	clear(work.parts) // they are other builders' soon
	work.parts = work.parts[:0]
	if b.N <= builder.KeptHashes {
		ribbonWorks.Put(work)
	}
	return extended, ok
}

// writeFew appends the filter of few keys in LevelDB's encoding to dst. It returns false if their
// hashes are not all there: an adversary can choose keys that have few hashes here and many in
// LevelDB.
func (b *ribbonBuilder) writeFew(dst []byte) ([]byte, bool) {
	if b.few.n > mostFew {
		return dst, false
	}
	return b.ribbon.exact.setting.AppendHashes(dst, b.N, b.few.hashes[:b.few.n]), true
}

// hasAll reports whether a filter has the keys with some hashes; if it is of LevelDB's encoding,
// whether it has all keys.
func (b *ribbonBuilder) hasAll(filter []byte, hashes []uint64) bool {
	if Encoding(filter[len(filter)-1]) != EncodingRibbon {
		return b.few.n <= mostFew && bloom.HasAll(filter, b.few.hashes[:b.few.n])
	}
	if _, ok := ribbon.Parse(filter); !ok {
		return false
	}
	return !slices.ContainsFunc(hashes, func(x uint64) bool { return !ribbon.Contains(filter, x) })
}

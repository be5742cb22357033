package policy

import (
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

type ribbonBuilder struct {
	hashBuffer[uint64]
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
// per key, 7 with 8 or more (TestRibbonOfFewKeys).
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
	if b.full() {
		b.grow()
	}
	b.put(h)
	if b.distinct || b.n <= b.ribbon.few { // many may become few only if repetitions are left out
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
	n := b.Len() // before all, since it may leave out repetitions
	write := b.write
	if b.ribbon.areFew(n) {
		write = b.writeFew
	}
	extended, ok := write(dst)
	switch {
	case !ok:
		extended = append(dst, excludesNothing...)
	case b.ribbon.verify:
		extended = verified(extended, len(dst), &b.hashBuffer, b.hasAll)
	}
	b.reset()
	b.few.n = 0
	return extended
}

// write appends the ribbon filter of the keys to dst. It returns false if they are too many.
func (b *ribbonBuilder) write(dst []byte) ([]byte, bool) {
	work := ribbonWorks.Get().(*ribbonWork)
	for hashes := range b.all {
		work.parts = append(work.parts, hashes)
	}
	extended, ok := work.Build(dst, work.parts, b.ribbon.bitsPerKey)
	clear(work.parts) // they are other builders' soon
	work.parts = work.parts[:0]
	if b.n <= keptChunks*chunkHashes {
		ribbonWorks.Put(work)
	}
	return extended, ok
}

// writeFew appends the filter of few keys in LevelDB's encoding to dst. It returns false if their
// hashes are not all there: somebody chose keys that have few hashes here and many in LevelDB.
func (b *ribbonBuilder) writeFew(dst []byte) ([]byte, bool) {
	if b.few.n > mostFew {
		return dst, false
	}
	extended, array := b.ribbon.exact.extendFilter(dst, b.n)
	setProbes(array, newModulus(len(array)), b.few.hashes[:b.few.n], b.ribbon.exact.k)
	return extended, true
}

// hasAll asks a filter for keys of the builder with some hashes. One of LevelDB's encoding it asks
// for all keys.
func (b *ribbonBuilder) hasAll(filter []byte, hashes []uint64) bool {
	if Encoding(filter[len(filter)-1]) != EncodingRibbon {
		return b.few.n <= mostFew && bloomHasAll(filter, b.few.hashes[:b.few.n])
	}
	if _, ok := ribbon.Parse(filter); !ok {
		return false
	}
	return !slices.ContainsFunc(hashes, func(x uint64) bool { return !ribbon.Contains(filter, x) })
}

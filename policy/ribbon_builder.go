package policy

import (
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

type ribbonBuilder struct {
	builder.Buffer[uint64]
	ribbon *Ribbon
}

func (b *ribbonBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

// A ribbonWork is memory for the construction of a filter.
type ribbonWork struct {
	ribbon.Builder
	parts [][]uint64
}

var ribbonWorks = sync.Pool{New: func() any { return new(ribbonWork) }}

func (b *ribbonBuilder) Finish(dst []byte) []byte {
	b.Settle()
	if b.N == 0 {
		return b.ribbon.setting.AppendEmpty(dst)
	}
	extended, ok := b.write(dst)
	switch {
	case !ok:
		extended = append(dst, builder.Replacement...)
	case b.ribbon.setting.Verify:
		extended = builder.Verified(extended, len(dst), &b.Buffer, hasAll)
	}
	b.Reset()
	return extended
}

// write appends the ribbon filter of the keys to dst. It returns false if they are too many.
func (b *ribbonBuilder) write(dst []byte) ([]byte, bool) {
	work := ribbonWorks.Get().(*ribbonWork)
	for hashes := range b.All {
		work.parts = append(work.parts, hashes)
	}
	extended, ok := work.Build(dst, work.parts, b.ribbon.setting.BitsPerKey)
	clear(work.parts) // they are other builders' soon
	work.parts = work.parts[:0]
	if b.N <= builder.KeptHashes {
		ribbonWorks.Put(work)
	}
	return extended, ok
}

// hasAll reports whether a ribbon filter has the keys with some hashes. A malformed one has none.
func hasAll(filter []byte, hashes []uint64) bool {
	if _, ok := ribbon.Parse(filter); !ok || filter[len(filter)-1] != ribbon.Encoding {
		return false
	}
	return !slices.ContainsFunc(hashes, func(x uint64) bool { return !ribbon.Contains(filter, x) })
}

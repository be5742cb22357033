package policy

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Ribbon is a policy.
type Ribbon struct {
	name    string
	blocked *BlockedBloom // writes what is too small, or fails
}

var (
	_ Policy      = (*Ribbon)(nil)
	_ BatchReader = (*Ribbon)(nil)
)

// NewRibbon returns a policy.
func NewRibbon(bitsPerKey float64, opts ...Option) (*Ribbon, error) {
	if !(bitsPerKey >= 2 && bitsPerKey <= ribbonColumns) {
		return nil, fmt.Errorf("policy: %v bits per key: pass a number from 2 to 40, usually 10", bitsPerKey)
	}
	blocked, err := NewBlockedBloom(bitsPerKey, opts...)
	if err != nil {
		return nil, err
	}
	return &Ribbon{blocked.name, blocked}, nil
}

// Name returns the name under which engines store the filters.
func (r *Ribbon) Name() string { return r.name }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (r *Ribbon) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder.
func (r *Ribbon) NewBuilder() Builder { return &ribbonBuilder{ribbon: r} }

// AppendFilter appends the filter of keys to dst and returns the extended slice.
func (r *Ribbon) AppendFilter(dst []byte, keys [][]byte) []byte {
	b := ribbonBuilder{ribbon: r}
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(dst)
}

// FilterSize returns the size in bytes of a filter of n distinct keys.
func (r *Ribbon) FilterSize(n int) uint64 {
	if !r.suits(n) {
		return r.blocked.FilterSize(n)
	}
	return filterBytes(n, r.blocked.bitsPerKey) + blockedTrailer
}

// suits reports whether n keys get a ribbon filter. Below, blocked filters have fewer false
// positives, because their parameters take less.
func (r *Ribbon) suits(n int) bool {
	return n <= maxRibbonKeys && filterBytes(n, r.blocked.bitsPerKey) >= 4
}

type ribbonBuilder struct {
	keyHashes
	ribbon *Ribbon
}

func (b *ribbonBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.full() {
		b.grow()
	}
	b.put(h)
}

var ribbonFailures atomic.Uint64

func (b *ribbonBuilder) Finish(dst []byte) []byte {
	work := ribbonWorks.Get().(*ribbonWork)
	work.sort(&b.keyHashes)
	n := len(work.hashes)
	var filter []byte
	if b.ribbon.suits(n) {
		size := intSize(b.ribbon.FilterSize(n), n, b.ribbon.blocked.bitsPerKey)
		dst = slices.Grow(dst, size)
		filter = dst[len(dst) : len(dst)+size]
		clear(filter)
		if !work.build(filter) || !b.check(filter) {
			ribbonFailures.Add(1)
			filter = nil
		}
	}
	if filter != nil {
		dst = dst[:len(dst)+len(filter)]
	} else {
		var payload []byte
		dst, payload = b.ribbon.blocked.extend(dst, n)
		for hashes := range b.all {
			setBlocked(payload, hashes, b.ribbon.blocked.k)
		}
	}
	b.reset()
	if cap(work.rows) > 1<<20 {
		*work = ribbonWork{}
	}
	ribbonWorks.Put(work)
	return dst
}

const ribbonCheckMax = 10_000

// check reports whether the filter contains all keys.
func (b *ribbonBuilder) check(filter []byte) bool {
	if b.n > ribbonCheckMax {
		return true
	}
	var s ribbonShape
	if !parseRibbon(filter, &s) || !s.checked(filter) {
		return false
	}
	for hashes := range b.all {
		for _, x := range hashes {
			if !s.contains(filter, x) {
				return false
			}
		}
	}
	return true
}

var ribbonWorks = sync.Pool{New: func() any { return new(ribbonWork) }}

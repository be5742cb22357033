package policy

import (
	"fmt"
	"sync/atomic"
)

// Ribbon is a policy.
type Ribbon struct {
	common
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
	return &Ribbon{blocked.common, blocked}, nil
}

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (r *Ribbon) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder.
func (r *Ribbon) NewBuilder() Builder {
	r.mustBeUsable()
	return &ribbonBuilder{hashBuffer[uint64]{pool: &chunks64}, r}
}

// AppendFilter appends the filter of keys to dst and returns the extended slice.
func (r *Ribbon) AppendFilter(dst []byte, keys [][]byte) []byte {
	b := ribbonBuilder{hashBuffer[uint64]{pool: &chunks64}, r}
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
	return filterBytes(n, r.bitsPerKey) + blockedTrailer
}

// suits reports whether n keys get a ribbon filter. Below, blocked filters have fewer false
// positives, because their parameters take less.
func (r *Ribbon) suits(n int) bool {
	size := filterBytes(n, r.bitsPerKey)
	return n <= maxRibbonKeys && 5 <= size && size <= maxRibbonPayload
}

var ribbonFailures atomic.Uint64

// ribbonChecked is the number of keys from which on a builder does not check its filter.
const ribbonChecked = 10_000

package pebblev1

import (
	"fmt"

	"github.com/cockroachdb/pebble"

	"github.com/levelbloom/levelbloom/policy"
)

// filterPolicy is a policy.Policy in the shape that Pebble wants.
type filterPolicy struct {
	policy policy.Policy
	name   string
}

var _ pebble.FilterPolicy = (*filterPolicy)(nil)

// New returns p as a pebble.FilterPolicy, for sstable.WriterOptions, for the Filters of sstable.ReaderOptions, and for
// Pebble's tools. For a database's options use [Configure], which also keeps the tables on disk readable. The result is
// safe for concurrent use. New panics if p is nil.
func New(p policy.Policy) pebble.FilterPolicy {
	if err := policy.Check(p); err != nil {
		panic(fmt.Errorf("pebblev1: %w", err))
	}
	return &filterPolicy{policy: p, name: p.Name()}
}

// Name implements pebble.FilterPolicy.
func (f *filterPolicy) Name() string { return f.name }

// MayContain implements pebble.FilterPolicy. Types of filter that a later Pebble may add are not ours to read: they
// exclude nothing.
func (f *filterPolicy) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	return ftype != pebble.TableFilter || f.policy.MayContain(filter, key)
}

package pebblev2

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// filterPolicy makes a policy.Policy a pebble.FilterPolicy.
type filterPolicy struct {
	policy policy.Policy
	name   string
}

var _ pebble.FilterPolicy = (*filterPolicy)(nil)

// New returns p as a pebble.FilterPolicy under the name that p has now, for sstable.WriterOptions,
// the Filters of sstable.ReaderOptions, and Pebble's tools. For a database's options call
// [Configure], which also keeps the filters on disk in use. The result is safe for concurrent use.
//
// New panics if policy.Check refuses p.
func New(p policy.Policy) pebble.FilterPolicy {
	f, err := newFilterPolicy(p)
	if err != nil {
		panic(err)
	}
	return f
}

func newFilterPolicy(p policy.Policy) (pebble.FilterPolicy, error) {
	if err := policy.Check(p); err != nil {
		return nil, fmt.Errorf("pebblev2: %w", err)
	}
	return &filterPolicy{p, p.Name()}, nil
}

// Name implements pebble.FilterPolicy.
func (f *filterPolicy) Name() string { return f.name }

// MayContain implements pebble.FilterPolicy. It never excludes a key by a filter of another type,
// which a later Pebble may add.
func (f *filterPolicy) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	return ftype != pebble.TableFilter || f.policy.MayContain(filter, key)
}

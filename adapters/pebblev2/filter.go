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
	if err := policy.Check(p); err != nil {
		panic(fmt.Errorf("pebblev2: %w", err))
	}
	return &filterPolicy{p, p.Name()}
}

// Name implements pebble.FilterPolicy.
func (f *filterPolicy) Name() string { return f.name }

// MayContain implements pebble.FilterPolicy. It never excludes a key by a filter of another type,
// which a later Pebble may add.
func (f *filterPolicy) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	return ftype != pebble.TableFilter || f.policy.MayContain(filter, key)
}

// NewWriter implements pebble.FilterPolicy.
func (f *filterPolicy) NewWriter(ftype pebble.FilterType) pebble.FilterWriter {
	if ftype != pebble.TableFilter {
		panic(fmt.Sprintf("pebblev2: filters of type %v are not supported, only pebble.TableFilter",
			ftype))
	}
	return &filterWriter{policy.NewDistinctBuilder(f.policy)}
}

// filterWriter collects the keys of one table. Pebble adds a key once per version, all in a row,
// and the size of a filter must follow the number of keys.
type filterWriter struct{ policy.Builder }

// AddKey implements pebble.FilterWriter.
func (w *filterWriter) AddKey(key []byte) { w.Add(key) }

package pebblev2

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// filterPolicy makes a policy a pebble.FilterPolicy.
type filterPolicy struct{ *policy.Policy }

// New returns p as a pebble.FilterPolicy, for sstable.WriterOptions, the Filters of
// sstable.ReaderOptions, and Pebble's tools. For a database's options call [Configure], which also
// keeps the filters on disk in use. The result is safe for concurrent use.
//
// New panics if p is nil or the zero Policy.
func New(p *policy.Policy) pebble.FilterPolicy {
	if err := p.Check(); err != nil {
		panic(fmt.Errorf("pebblev2: %w", err))
	}
	return filterPolicy{p}
}

// MayContain implements pebble.FilterPolicy.
func (f filterPolicy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	return f.Policy.MayContain(filter, key)
}

// NewWriter implements pebble.FilterPolicy. There is one type of filter.
func (f filterPolicy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return filterWriter{f.NewDistinctBuilder()}
}

// filterWriter collects the keys of one table. Pebble adds a key once per version, all in a row,
// and the size of a filter must follow the number of keys.
type filterWriter struct{ policy.Builder }

// AddKey implements pebble.FilterWriter.
func (w filterWriter) AddKey(key []byte) { w.Add(key) }

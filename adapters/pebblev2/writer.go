package pebblev2

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

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

package pebblev2

import (
	"bytes"
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
	return &filterWriter{builder: f.policy.NewBuilder()}
}

// filterWriter collects the keys of one table. Pebble adds a key once per version, all in a row, so
// it drops a key equal to the one before: the size of a filter must follow the number of keys.
// (Pebble's own policy compares hashes, and so drops some different keys too.)
type filterWriter struct {
	builder policy.Builder
	last    []byte // a copy of the last key added, because Pebble reuses its memory
	started bool   // last is a key; it may be an empty one
}

// AddKey implements pebble.FilterWriter.
func (w *filterWriter) AddKey(key []byte) {
	if w.started && bytes.Equal(key, w.last) {
		return
	}
	w.builder.Add(key)
	w.last = append(w.last[:0], key...)
	w.started = true
}

// Finish implements pebble.FilterWriter.
func (w *filterWriter) Finish(dst []byte) []byte {
	w.started = false
	return w.builder.Finish(dst)
}

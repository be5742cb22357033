package pebblev2

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// Differences between Pebble v1 and v2 (for levels, see levels.go).

// openFiles returns how many tables a database with options o keeps open, or -1 if o has a file
// cache, whose size Pebble does not report.
func openFiles(o *pebble.Options) int {
	if o.FileCache != nil {
		return -1
	}
	return pebble.FileCacheSize(cmp.Or(o.MaxOpenFiles, 1000)) // Pebble's default
}

// cacheSize returns the size of the block cache that a database with options o has, in bytes.
func cacheSize(o *pebble.Options) int64 {
	if o.Cache != nil {
		return o.Cache.MaxSize()
	}
	return cmp.Or(o.CacheSize, 8<<20) // Pebble's default
}

// maxCollectors is how many block property collectors Pebble takes beside its own. With more it
// panics when it writes a table.
const maxCollectors = 255

// storesProperties reports whether tables written with o can have block properties.
func storesProperties(*pebble.Options) bool { return true }

// The mark is the same for all keys and suffixes.

func (mark) AddPointKey(pebble.InternalKey, []byte) error           { return nil }
func (mark) AddRangeKeys(sstable.Span) error                        { return nil }
func (mark) AddCollectedWithSuffixReplacement(_, _, _ []byte) error { return nil }
func (mark) SupportsSuffixReplacement() bool                        { return true }

// compactRange merges all levels from start to before end.
func compactRange(ctx context.Context, db *pebble.DB, start, end []byte) error {
	return db.Compact(ctx, start, end, true)
}

// comparerOf returns the comparer that a database with options o has.
func comparerOf(o *pebble.Options) *pebble.Comparer { return o.Comparer.EnsureDefaults() }

// lacksRangeKeys returns why a database can have no range keys, or nil.
func lacksRangeKeys(*pebble.DB) error { return nil }

// isEmpty reports whether a range key's suffix is none.
func isEmpty(_ *pebble.Comparer, suffix []byte) bool { return len(suffix) == 0 }

// validate asks the program's functions in o about a removal of range keys without suffix.
func validate(o *pebble.Options, start, end []byte) error {
	for _, key := range [][]byte{start, end} {
		if err := comparerOf(o).ValidateKey.Validate(key); err != nil {
			return err
		}
	}
	removal := sstable.Span{Start: start, End: end}
	removal.Keys = slices.Grow(removal.Keys, 1)[:1] // Pebble does not export the type
	removal.Keys[0].Trailer = pebble.InternalKeyTrailer(pebble.InternalKeyKindRangeKeyUnset)
	for _, newCollector := range o.BlockPropertyCollectors {
		collector := newCollector()
		if err := errors.Join(collector.AddRangeKeys(removal), finish(collector)); err != nil {
			return err
		}
	}
	if policyOf := o.Experimental.SpanPolicyFunc; policyOf != nil {
		_, _, err := policyOf(start)
		return err
	}
	return nil
}

// seekPrefix is iter.SeekPrefixGE, which every database of Pebble v2 can do.
func seekPrefix(iter *pebble.Iterator, key []byte) (found, can bool) {
	return iter.SeekPrefixGE(key), true
}

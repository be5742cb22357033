package pebblev2

import "github.com/cockroachdb/pebble/v2"

// This file has what differs between Pebble v1 and v2, apart from the levels.

// hidesFilter reports whether Pebble does not report the properties of t: v2 hides those of virtual
// tables.
func hidesFilter(t pebble.SSTableInfo) bool { return t.Virtual }

// seekPrefix calls SeekPrefixGE. able is false if the comparer does not allow that: in v2 all do.
func seekPrefix(iter *pebble.Iterator, key []byte) (found, able bool) {
	return iter.SeekPrefixGE(key), true
}

// cacheSize returns the size of the block cache that a database with options o has, in bytes.
func cacheSize(o *pebble.Options) int64 {
	switch {
	case o.Cache != nil:
		return o.Cache.MaxSize()
	case o.CacheSize != 0:
		return o.CacheSize
	}
	return 8 << 20 // Pebble's default
}

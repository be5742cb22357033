package pebblev1

import "github.com/cockroachdb/pebble"

// This file has what differs between Pebble v1 and v2, apart from the levels. The files that do not
// differ are generated from package pebblev2.
//
//go:generate go run ../internal/genpebblev1

// hidesFilter reports whether Pebble does not report the properties of t: v1 reports all.
func hidesFilter(pebble.SSTableInfo) bool { return false }

// seekPrefix calls SeekPrefixGE. able is false if the comparer has no Split and so does not allow
// that. A Reader does not tell beforehand.
func seekPrefix(iter *pebble.Iterator, key []byte) (found, able bool) {
	defer func() {
		if p := recover(); p != nil && p != noSplit {
			panic(p)
		}
	}()
	return iter.SeekPrefixGE(key), true
}

// noSplit is what SeekPrefixGE panics with, before it does anything, if the comparer has no Split.
const noSplit = "pebble: split must be provided for SeekPrefixGE"

// cacheSize returns the size of the block cache that a database with options o has, in bytes.
func cacheSize(o *pebble.Options) int64 {
	if o.Cache != nil {
		return o.Cache.MaxSize()
	}
	return 8 << 20 // Pebble's default
}

// # Formats, comparers and contexts
//
// Marks and [Rewrite] need Options.FormatMajorVersion to be pebble.FormatRangeKeys or newer, which
// Pebble has read since 2022. The default is older: set it even if the database already has that
// format. Otherwise Has reads more, and Rewrite returns an error. [Check] says so.
//
// The lookups need a comparer with a Split, which the default one lacks. [Configure] replaces such
// a comparer with a copy whose Split is the whole key. As a side effect, DB.RangeKeySet returns no
// error and SeekPrefixGE does not panic. The database can be opened with either. In a database that was
// opened without Configure, Has, Get and HasMany call the reader's Get, and MayContain returns
// true.
//
// After its context was canceled, Rewrite returns at the end of the compaction that runs, which may
// be of a whole part.
package pebblev1

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble"
)

// Differences between Pebble v1 and v2 (for levels, see levels.go). The files without differences
// are generated from package pebblev2.
//
//go:generate go run ../internal/genpebblev1

// openFiles returns how many tables a database with options o keeps open, or -1 if o has a table
// cache, whose size Pebble does not report.
func openFiles(o *pebble.Options) int {
	if o.TableCache != nil {
		return -1
	}
	return pebble.TableCacheSize(cmp.Or(o.MaxOpenFiles, 1000)) // Pebble's default
}

// cacheSize returns the size of the block cache that a database with options o has, in bytes.
func cacheSize(o *pebble.Options) int64 {
	if o.Cache != nil {
		return o.Cache.MaxSize()
	}
	return 8 << 20 // Pebble's default
}

// maxCollectors is how many block property collectors Pebble takes beside its own. With more, its
// own has a number that makes every iterator panic: Pebble doubles it in a byte.
const maxCollectors = 126

// storesProperties reports whether the tables of a database with options o can have block
// properties. Before FormatBlockPropertyCollector, which is not the default, Pebble leaves the
// collectors out, and a sstable.Writer with one fails.
func storesProperties(o *pebble.Options) bool {
	return o.FormatMajorVersion >= pebble.FormatBlockPropertyCollector
}

// The mark is the same for all keys and suffixes.

func (mark) Add(pebble.InternalKey, []byte) error   { return nil }
func (mark) UpdateKeySuffixes(_, _, _ []byte) error { return nil }

// compactRange merges all levels from start to before end. Pebble v1 cannot stop in between.
func compactRange(ctx context.Context, db *pebble.DB, start, end []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.Compact(start, end, true)
}

// comparerOf returns the comparer that a database with options o has.
func comparerOf(o *pebble.Options) *pebble.Comparer { return withSplit(o.Comparer) }

// lacksRangeKeys returns why a database can have no range keys, or nil.
func lacksRangeKeys(db *pebble.DB) error {
	if db.FormatMajorVersion() < pebble.FormatRangeKeys {
		return errors.New("the format is too old: set FormatMajorVersion to " +
			"pebble.FormatRangeKeys or a newer one, and open the database again")
	}
	return nil
}

// isEmpty reports whether a range key's suffix is none, or one that the comparer takes for none, as
// Pebble v1 then does.
func isEmpty(c *pebble.Comparer, suffix []byte) bool {
	return len(suffix) == 0 || c.Equal != nil && c.Equal(suffix, nil)
}

// validate asks the program's functions in o about a removal of range keys without suffix.
func validate(o *pebble.Options, start, end []byte) error {
	if valid := o.Experimental.KeyValidationFunc; valid != nil {
		if err := errors.Join(valid(start), valid(end)); err != nil {
			return err
		}
	}
	removal := pebble.InternalKey{
		UserKey: start, Trailer: uint64(pebble.InternalKeyKindRangeKeyUnset),
	}
	value := append(binary.AppendUvarint(nil, uint64(len(end))), end...)
	value = append(value, 0) // the length of the suffix
	for _, newCollector := range o.BlockPropertyCollectors {
		collector := newCollector()
		if err := errors.Join(collector.Add(removal, value), finish(collector)); err != nil {
			return err
		}
	}
	for _, newCollector := range o.TablePropertyCollectors { // of points, of which there are none
		if err := newCollector().Finish(map[string]string{}); err != nil {
			return err
		}
	}
	return nil
}

// seekPrefix is iter.SeekPrefixGE, or returns that it cannot: in a database whose comparer has no
// Split, Pebble v1 panics before it seeks. No filter can be asked there.
func seekPrefix(iter *pebble.Iterator, key []byte) (found, can bool) {
	defer func() {
		const lacksSplit = "pebble: split must be provided for SeekPrefixGE"
		if p := recover(); p != nil && p != lacksSplit {
			panic(p)
		}
	}()
	return iter.SeekPrefixGE(key), true
}

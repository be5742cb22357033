package goleveldb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// A Report is what [Check] found. All that it can see is in order if there are no warnings.
type Report struct {
	// Warnings say what makes lookups of absent keys read tables or write them anew, and what to do.
	Warnings []string

	facts []string // what String says besides
}

// String returns the warnings and what else Check found, a line each.
func (r Report) String() string { return strings.Join(slices.Concat(r.Warnings, r.facts), "\n") }

// Check reports which settings keep db from answering lookups of absent keys from memory. o must be
// the options that db was opened with: a filter that they got later is in no table. Check may run
// while db is in use. It returns goleveldb's errors, or one if o or db is nil or if db is closed.
//
// It warns of options without a filter, of a file cache that is too small, and of lookups that
// start compactions. goleveldb reads a table's footer and metaindex whenever it opens the table,
// and a lookup opens each table that it comes to, unless that is among the OpenFilesCacheCapacity
// ones that are open.
//
// goleveldb tells neither which tables have filters nor the sizes of filters and indexes, which it
// keeps in the block cache, with the data. Command filterdump counts them, also while the database
// is in use, and prints the capacity that they need. It is twice their size, because goleveldb's
// buffers may be twice as large as the blocks in them, and the cache counts the buffers. Blocks
// with data come on top.
//
// A custom Cacher is assumed to hold its stated capacity and to serve only this database.
func Check(o *opt.Options, db *leveldb.DB) (r Report, err error) {
	if err := checkArguments(o, db); err != nil {
		return r, err
	}
	var stats leveldb.DBStats
	if err := db.Stats(&stats); err != nil {
		return r, err // leveldb.ErrClosed
	}
	warn := func(format string, args ...any) {
		r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
	}
	fact := func(format string, args ...any) {
		r.facts = append(r.facts, fmt.Sprintf(format, args...))
	}
	if o.Filter == nil {
		warn("the options have no filter: pass them to Configure before leveldb.OpenFile")
	}
	tables, files := 0, 0
	for _, n := range stats.LevelTablesCounts {
		tables += n
	}
	if o.OpenFilesCacher != opt.NoCacher {
		files = o.GetOpenFilesCacheCapacity()
	}
	switch {
	case tables == 0:
		fact("there are no tables yet: print the report again when there are some")
	case tables <= files:
		fact("the file cache (%d tables) has room for %d tables", files, tables)
	default:
		warn("the file cache (%d tables) is too small for %d tables, so lookups open some again and "+
			"again: set Options.OpenFilesCacheCapacity to %d, if the process may open as many files "+
			"(ulimit -n), or make tables larger with Options.CompactionTableSize",
			files, tables, tables+tables/4)
	}
	if !o.DisableSeeksCompaction && !o.ReadOnly {
		warn("lookups start compactions: set Options.DisableSeeksCompaction")
	}
	if o.DisableBlockCache {
		fact("there is no block cache: open tables keep filters and indexes themselves")
	} else {
		cache := 0
		if o.BlockCacher != opt.NoCacher {
			cache = o.GetBlockCacheCapacity()
		}
		fact("the block cache (%d MiB) must have room for the filters and indexes of all tables, twice",
			cache>>20)
	}
	if name := o.GetComparer().Name(); name != comparer.DefaultComparer.Name() {
		fact("neither Check nor filterdump can see which tables have filters, and Rewrite gives none, "+
			"with the comparer %q: write all entries to a new database", name)
	} else {
		fact("Check cannot see which tables have filters: filterdump shows that, and the " +
			"Options.BlockCacheCapacity that they need. Rewrite gives filters to those without, if " +
			"Configure was called before leveldb.OpenFile")
	}
	return r, nil
}

func checkArguments(o *opt.Options, db *leveldb.DB) error {
	if o == nil || db == nil {
		return errors.New("goleveldb: the options or the database is nil: pass one that " +
			"leveldb.OpenFile returned, and the options that it was opened with")
	}
	return nil
}

package goleveldb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// CacheReport compares what lookups of absent keys need with what the options provide.
type CacheReport struct {
	Tables    int // on disk
	OpenFiles int // tables that goleveldb keeps open

	Cache uint64 // the capacity of the block cache, in bytes
	Used  uint64 // bytes in it now; blocks of live tables are evicted only to make room

	NoFilters       bool // the options have no filter
	NoCache         bool // DisableBlockCache: an open table keeps its filters and index itself
	SeekCompactions bool // lookups make goleveldb compact tables
}

// CheckCache reports what decides whether db can answer lookups of absent keys from memory. Print
// the report: it says what to set, and what only command filterdump can see. o must be the options
// that db was opened with: a filter that they got later is in no table. CheckCache may run while db
// is in use. It returns goleveldb's errors, or one if o or db is nil or if db is closed.
//
// goleveldb reads a table's footer and metaindex whenever it opens the table, and a lookup opens
// each table that it comes to, unless that is among the OpenFilesCacheCapacity ones that are open.
// It keeps filters and indexes in the block cache, with the data.
//
// goleveldb reports neither which tables have filters nor the sizes of filters and indexes. Command
// filterdump counts them, also while the database is in use, and prints the capacity that they
// need. This is twice their size, because goleveldb's buffers may be twice as large as the blocks
// in them, and the cache counts the buffers. Blocks with data come on top.
//
// A custom Cacher is assumed to hold its stated capacity and to serve only this database.
func CheckCache(o *opt.Options, db *leveldb.DB) (CacheReport, error) {
	if err := checkArguments(o, db); err != nil {
		return CacheReport{}, err
	}
	var stats leveldb.DBStats
	if err := db.Stats(&stats); err != nil {
		return CacheReport{}, err // leveldb.ErrClosed
	}
	r := CacheReport{
		Used:      uint64(stats.BlockCacheSize),
		NoFilters: o.Filter == nil, NoCache: o.DisableBlockCache,
		SeekCompactions: !o.DisableSeeksCompaction,
	}
	for _, tables := range stats.LevelTablesCounts {
		r.Tables += tables
	}
	if o.OpenFilesCacher != opt.NoCacher {
		r.OpenFiles = o.GetOpenFilesCacheCapacity()
	}
	if o.BlockCacher != opt.NoCacher && !r.NoCache {
		r.Cache = uint64(o.GetBlockCacheCapacity())
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

// String says whether the options have a filter, whether tables stay open, what must fit into the
// block cache, and whether lookups start compactions: a line each, with what to set if something
// is wrong.
func (r CacheReport) String() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.NoFilters {
		add("the options have no filter: pass them to Configure before leveldb.OpenFile")
	}
	switch {
	case r.Tables == 0:
		add("there are no tables yet: print the report again when there are some")
	case r.Tables <= r.OpenFiles:
		add("the file cache (%d tables) has room for %d tables", r.OpenFiles, r.Tables)
	default:
		add("the file cache (%d tables) is too small for %d tables, so lookups open some again and "+
			"again: set Options.OpenFilesCacheCapacity to %d, if the process may open as many "+
			"files (ulimit -n), or make tables larger with Options.CompactionTableSize",
			r.OpenFiles, r.Tables, r.Tables+r.Tables/4)
	}
	const mib = 1 << 20
	if r.NoCache {
		add("there is no block cache: open tables keep filters and indexes themselves")
	} else {
		add("the block cache (%.1f MiB, %.1f in use) must have room for the filters and indexes of "+
			"all tables: filterdump prints the Options.BlockCacheCapacity that they need",
			float64(r.Cache)/mib, float64(r.Used)/mib)
	}
	add("CheckCache cannot see which tables have filters: filterdump shows that. Rewrite gives " +
		"filters to those without, if Configure was called before leveldb.OpenFile")
	if r.SeekCompactions {
		add("lookups start compactions: set Options.DisableSeeksCompaction")
	}
	return strings.Join(lines, "\n")
}

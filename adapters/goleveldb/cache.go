package goleveldb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// CacheReport compares what lookups of absent keys need with what the options provide. Sizes are in
// bytes.
type CacheReport struct {
	Tables    int // on disk
	OpenFiles int // tables that goleveldb keeps open

	Filters uint64 // of all tables, estimated
	Indexes uint64 // of all tables, in memory, estimated
	Cache   uint64 // the size of the block cache

	NoFilters       bool // the options have no filter
	NoCache         bool // DisableBlockCache: an open table keeps its filter and index itself
	SeekCompactions bool // lookups make goleveldb compact tables
}

// CheckCache reports whether db can answer lookups of absent keys from memory, and what to set if
// not. o must be the options that db was opened with. It may run while db is in use. It returns
// goleveldb's errors, or one if o or db is nil or if db is closed.
//
// goleveldb reads a table's footer and metaindex whenever it opens the table, and a lookup opens
// each table that it comes to, unless that is among the OpenFilesCacheCapacity ones that are open.
// It keeps filters and indexes in the block cache, with the data.
//
// The sizes of filters and indexes are estimated: goleveldb does not tell them. CheckCache reads
// 2 MiB of entries from all over the database, writes them to a table in memory with the options o,
// and scales its filter and index up. (policy.Count counts these filters too.) So the estimate does
// not know tables that were written with other options, or that have many deletions: filterdump
// reads each table. A Cacher of your own is taken for one that holds its capacity, and for this
// database alone.
func CheckCache(o *opt.Options, db *leveldb.DB) (CacheReport, error) {
	if o == nil {
		return CacheReport{}, errors.New(
			"goleveldb: the options are nil: pass those that the database was opened with")
	}
	if db == nil {
		return CacheReport{}, errors.New(
			"goleveldb: the database is nil: pass one that leveldb.OpenFile returned")
	}
	var stats leveldb.DBStats
	if err := db.Stats(&stats); err != nil {
		return CacheReport{}, err // leveldb.ErrClosed
	}
	r := CacheReport{
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
	var err error
	r.Filters, r.Indexes, err = estimate(o, db, stats.LevelSizes.Sum())
	return r, err
}

// Required returns the size of the block cache at which lookups of absent keys read next to
// nothing: filters and indexes twice, because goleveldb's buffers may be twice as large as the
// blocks in them, and the cache counts the buffers. Blocks with data come on top.
func (r CacheReport) Required() uint64 {
	if r.NoCache {
		return 0
	}
	return 2 * (r.Filters + r.Indexes)
}

// Fits reports whether lookups of absent keys are answered from memory, and write nothing.
func (r CacheReport) Fits() bool {
	return !r.NoFilters && r.Tables <= r.OpenFiles && r.Required() <= r.Cache && !r.SeekCompactions
}

// String says whether there are filters, whether tables stay open, whether filters and indexes fit,
// and whether lookups start compactions: a line each, with what to set if something is wrong.
func (r CacheReport) String() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.NoFilters {
		add("the options have no filter: pass them to Configure")
	}
	if r.Tables <= r.OpenFiles {
		add("the file cache (%d tables) has room for %d tables", r.OpenFiles, r.Tables)
	} else {
		add("the file cache (%d tables) is too small for %d tables, so lookups open some again and "+
			"again: set Options.OpenFilesCacheCapacity to %d, if the process may open as many "+
			"files (ulimit -n), or make tables larger with Options.CompactionTableSize",
			r.OpenFiles, r.Tables, r.Tables+r.Tables/4)
	}
	const mib = 1 << 20
	sizes := fmt.Sprintf("filters and indexes (an estimated %.1f MiB)",
		float64(r.Filters+r.Indexes)/mib)
	switch {
	case r.NoCache:
		add("there is no block cache: open tables keep %s themselves", sizes)
	case r.Required() <= r.Cache:
		add("the block cache (%.1f MiB) has room for %s twice", float64(r.Cache)/mib, sizes)
	default:
		add("the block cache (%.1f MiB) is too small for %s twice: set "+
			"Options.BlockCacheCapacity to %d, or more for the data", float64(r.Cache)/mib, sizes,
			r.Required())
	}
	if r.SeekCompactions {
		add("lookups start compactions: pass WithoutSeekCompactions() to Configure, or set " +
			"Options.DisableSeeksCompaction")
	}
	return strings.Join(lines, "\n")
}

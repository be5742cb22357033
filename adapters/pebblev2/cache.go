package pebblev2

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// CacheReport compares what lookups of absent keys need with what the options provide. Sizes are in
// bytes.
type CacheReport struct {
	Tables    int // on disk
	OpenFiles int // tables that Pebble keeps open, or -1 if the options have a file cache

	Filters   uint64 // of all tables; FiltersOnDisk returns those of each level
	L6        uint64 // those of L6
	Largest   uint64 // the largest one: a shard of the block cache must have room for it
	Indexes   uint64 // what is read of them before the filters: of indexes in parts, the top level
	MemTables uint64 // two memtables, the current one and one that Pebble keeps for reuse
	Cache     uint64 // the size of the block cache

	NoFilters bool // no table has one
}

// CheckCache reports whether db can answer lookups of absent keys from memory, and what to set if
// not. o must be the options that db was opened with. It reads the properties of every table, and
// may run while db is in use. It does not count the filters and indexes of tables whose properties
// Pebble does not report (see [LevelFilters]). It returns Pebble's errors, or one if o or db is nil
// or if db is closed. The report beside an error fits nothing and says so.
//
// Pebble reads a table's footer, metaindex and properties whenever it opens the table, and a lookup
// opens each table that it comes to, unless that is among the open ones, some less than
// MaxOpenFiles. Pebble does not report the size of a file cache that the options have.
//
// Pebble keeps each filter whole in its block cache, and beside it the index, which a lookup reads
// too. The cache consists of shards, and a filter that is larger than its shard is read anew by
// each lookup. CheckCache assumes as many shards as pebble.NewCache makes.
//
// Pebble also takes the memory of the memtables from the cache. With its default sizes, two
// memtables are as large as the cache: after some writes nothing stays cached, and every check of a
// filter reads it. Filters that come and go cost more reads than they avoid.
func CheckCache(o *pebble.Options, db *pebble.DB) (CacheReport, error) {
	if o == nil {
		return CacheReport{}, errors.New(
			"pebblev2: the options are nil: pass those that the database was opened with")
	}
	levels, err := tablesOf(db)
	if err != nil {
		return CacheReport{}, err
	}
	r := CacheReport{
		OpenFiles: openFiles(o), MemTables: 2 * o.MemTableSize, Cache: uint64(cacheSize(o)),
	}
	if r.MemTables == 0 {
		r.MemTables = 2 * 4 << 20 // Pebble's default
	}
	known := 0
	for level, tables := range levels {
		r.Tables += len(tables)
		for _, t := range tables {
			if !hidesFilter(t) {
				known++
				r.Filters += t.Properties.FilterSize
				r.Largest = max(r.Largest, t.Properties.FilterSize)
				if level == numLevels-1 {
					r.L6 += t.Properties.FilterSize
				}
				r.Indexes += topIndex(t.Properties)
			}
		}
	}
	r.NoFilters = known > 0 && r.Filters == 0
	return r, nil
}

// topIndex returns the bytes of a table's index that an iterator reads when it is created, before
// the filter is checked: the whole index, or the top level of one that has several parts.
func topIndex(p *sstable.Properties) uint64 {
	if p.IndexPartitions > 0 {
		return p.TopLevelIndexSize
	}
	return p.IndexSize
}

// otherFiles is how many files Pebble may open that are no tables.
const otherFiles = 10

// Required returns the size of the block cache at which lookups of absent keys read next to
// nothing: two memtables, and filters and indexes twice, or more if the largest filter would not
// fit into a shard. Blocks with data come on top.
func (r CacheReport) Required() uint64 { return r.withShards(r.sum()) }

func (r CacheReport) sum() uint64 { return r.MemTables + 2*(r.Filters+r.Indexes) }

// withShards returns a size of the block cache, from the given one on, whose shards have room for
// the largest filter.
func (r CacheReport) withShards(size uint64) uint64 {
	for !r.fitsShard(size) {
		size += size/8 + 1
	}
	return size
}

// fitsShard reports whether a shard of a block cache of that size has room for the largest filter,
// and an eighth more. Memtables take the same part of each shard. A larger cache may have smaller
// shards.
func (r CacheReport) fitsShard(size uint64) bool {
	return r.Largest == 0 ||
		size > r.MemTables && (size-r.MemTables)/shards(size) >= r.Largest+r.Largest/8
}

// shards returns how many shards pebble.NewCache gives a cache of that size.
func shards(size uint64) uint64 {
	const smallest = 4 << 20
	if n := 4 * uint64(runtime.GOMAXPROCS(0)); size/n >= smallest {
		return n
	}
	return 4
}

// requiredFiles returns how many tables must be able to stay open: a quarter more than there are,
// because Pebble divides its file cache into parts that do not fill evenly.
func (r CacheReport) requiredFiles() int { return r.Tables + r.Tables/4 }

// Fits reports whether lookups of absent keys are answered from memory.
func (r CacheReport) Fits() bool {
	return r != CacheReport{} && !r.NoFilters && r.fitsFiles() && r.fitsCache()
}

func (r CacheReport) fitsCache() bool { return r.sum() <= r.Cache && r.fitsShard(r.Cache) }

func (r CacheReport) fitsFiles() bool { return r.OpenFiles < 0 || r.requiredFiles() <= r.OpenFiles }

// String says whether there are filters, whether tables stay open, and whether filters and indexes
// fit: a line each, with what to set if something is wrong.
func (r CacheReport) String() string {
	if r == (CacheReport{}) {
		return "there is no report: CheckCache returned an error"
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.NoFilters {
		add("no table has a filter: pass the options to Configure; new tables get filters")
	}
	switch {
	case r.OpenFiles < 0:
		add("the options have a file cache, whose size Pebble does not report")
	case r.fitsFiles():
		add("the file cache (%d tables) has room for %d tables", r.OpenFiles, r.Tables)
	default:
		add("the file cache (%d tables) is too small for %d tables and a quarter more, so lookups "+
			"open some again and again: set Options.MaxOpenFiles to %d, if the process may open as "+
			"many files (ulimit -n), or make tables larger with their target file size",
			r.OpenFiles, r.Tables, r.requiredFiles()+otherFiles)
	}
	const mib = 1 << 20
	sizes := fmt.Sprintf("two memtables (%.1f MiB) and for filters and indexes (%.1f MiB) twice",
		float64(r.MemTables)/mib, float64(r.Filters+r.Indexes)/mib)
	switch {
	case r.fitsCache():
		add("the block cache (%.1f MiB) has room for %s", float64(r.Cache)/mib, sizes)
	case r.sum() <= r.Cache:
		add("the block cache (%.1f MiB) has %d shards, none of which has room for the largest filter "+
			"(%.1f MiB), so each lookup reads that: set Options.Cache to pebble.NewCache(%d), or "+
			"make tables smaller with their target file size", float64(r.Cache)/mib, shards(r.Cache),
			float64(r.Largest)/mib, r.withShards(r.Cache))
	default:
		add("the block cache (%.1f MiB) is too small for %s: set Options.Cache to "+
			"pebble.NewCache(%d), or more for the data", float64(r.Cache)/mib, sizes, r.Required())
	}
	if r.L6 > 0 {
		add("of the filters, %.1f MiB are L6's, which only this package's lookups consult",
			float64(r.L6)/mib)
	}
	return strings.Join(lines, "\n")
}

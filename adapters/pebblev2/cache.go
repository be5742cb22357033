package pebblev2

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// CacheReport compares a database's filters with its block cache. Sizes are in bytes.
type CacheReport struct {
	Filters   uint64 // of all tables; FiltersOnDisk returns those of each level
	MemTables uint64 // two memtables, the current one and one that Pebble keeps for reuse
	Cache     uint64 // the size of the block cache
}

// CheckCache reports whether the block cache of db has room for the filters. o must be the options
// that db was opened with. It reads the properties of every table, and may run while db is in use.
// It does not count the filters of tables whose properties Pebble does not report (see
// [LevelFilters]). It returns Pebble's errors, or one if o or db is nil.
//
// Pebble keeps each filter whole in its block cache, from which it also takes the memory of the
// memtables. With its default sizes, two memtables are as large as the cache: after some writes
// nothing stays cached, and every check of a filter reads it. Filters that come and go cost more
// reads than they avoid.
func CheckCache(o *pebble.Options, db *pebble.DB) (CacheReport, error) {
	if o == nil {
		return CacheReport{}, errors.New(
			"pebblev2: the options are nil: pass those that the database was opened with")
	}
	levels, err := FiltersOnDisk(db)
	if err != nil {
		return CacheReport{}, err
	}
	r := CacheReport{MemTables: 2 * o.MemTableSize, Cache: uint64(cacheSize(o))}
	if r.MemTables == 0 {
		r.MemTables = 2 * 4 << 20 // Pebble's default
	}
	for _, level := range levels {
		r.Filters += level.Bytes
	}
	return r, nil
}

// Required returns the smallest size of the cache at which filters avoid nearly all reads that they
// can: two memtables, and the filters twice. Blocks with data come on top.
func (r CacheReport) Required() uint64 { return r.MemTables + 2*r.Filters }

// Fits reports whether the cache has the size that is required.
func (r CacheReport) Fits() bool { return r.Cache >= r.Required() }

// String says in one sentence whether the filters fit, and if not, what to set.
func (r CacheReport) String() string {
	const mib = 1 << 20
	sizes := fmt.Sprintf("two memtables (%.1f MiB) and the filters twice (2 x %.1f MiB)",
		float64(r.MemTables)/mib, float64(r.Filters)/mib)
	if r.Fits() {
		return fmt.Sprintf("the block cache (%.1f MiB) has room for %s",
			float64(r.Cache)/mib, sizes)
	}
	return fmt.Sprintf("the block cache (%.1f MiB) is too small for %s: set Options.Cache to "+
		"pebble.NewCache(%d), or more for the data", float64(r.Cache)/mib, sizes, r.Required())
}

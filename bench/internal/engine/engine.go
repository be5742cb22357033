// Package engine opens the storage engines that the benchmark compares, each with one kind of
// filter.
package engine

import (
	"context"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

// Filters that are no kind of levelbloom's.
const (
	None    = "none"    // no filter
	BuiltIn = "builtin" // the engine's own Bloom filter
	// RibbonL6 is ribbon filters in every level of a Pebble database, and lookups by the adapter's
	// Get, which consults the filters in L6 too. The database's own Get does not.
	RibbonL6 = "ribbon+L6"
)

// Config says how to open a database.
type Config struct {
	Dir string
	// Filter is none, builtin, ribbon+L6, or a name that filters.PolicyOf takes. The name may lack
	// the colon and the bits per key, which are Bits then.
	Filter string
	Bits   int
	Bytes  int   // of all keys and values
	Cache  int   // bytes of the block cache, without the engine's memtables
	Disk   *Disk // where the tables are
	// OnFatal is called with errors that the engine cannot go on from, before the engine gives up.
	OnFatal func(error)
}

// Policy returns the policy of c's filter, or nil for none and builtin.
func (c Config) Policy() (*policy.Policy, error) {
	name := strings.TrimSuffix(c.Filter, "+L6")
	if name == None || name == BuiltIn {
		return nil, nil
	}
	return filters.PolicyOf(name, float64(c.Bits))
}

// An engine's geometry shrinks with the data, so that some MB spread over as many levels as some
// hundred GB do with the default settings. Without it most of the data would be in one level, and a
// lookup would consult few filters.
const (
	// l0Compaction is the number of overlapping tables in L0 at which an engine compacts them.
	l0Compaction = 4
	// Flushes is how many parts the data are flushed in, one less than a multiple of l0Compaction:
	// L0 is as full as it gets when the last one is done.
	Flushes = 5*l0Compaction - 1
	// levelFactor is how much larger a level is than the one above.
	levelFactor = 4
)

// memTable returns a size that keeps an engine from flushing by itself before a part is in.
func (c Config) memTable() int { return max(4*c.Bytes/Flushes, 1<<20) }

// table returns the bytes of a table of any level but L0.
func (c Config) table() int { return min(max(c.Bytes/32, 128<<10), 64<<20) }

// baseLevel returns the bytes of the first level below L0.
func (c Config) baseLevel() int { return min(max(c.Bytes/64, 128<<10), 64<<20) }

// An Engine opens databases, each in the directory that Config names, which nothing else uses.
type Engine struct {
	Name string
	L6   bool // RibbonL6 is one of its filters
	Open func(Config) (DB, error)
}

// Engines lists all engines.
var Engines = []Engine{
	{"goleveldb", false, openGoLevelDB},
	{"pebblev1", true, openPebbleV1},
	{"pebblev2", true, openPebbleV2},
}

// A DB is an open database.
type DB interface {
	Put(key, value []byte) error
	// Get reports whether key is present; it reads the value if so.
	Get(key []byte) (bool, error)
	// Settle flushes what is in memory to tables and waits for the compactions, and then for Quiet.
	Settle(ctx context.Context) error
	// Tables describes the tables on disk and their filters.
	Tables() (Tables, error)
	Close() error
}

// Tables sums up the tables of a database.
type Tables struct {
	Filters     int64 `json:"filters"`       // those that are not empty
	FilterBytes int64 `json:"filter_bytes"`  // of these, and of their index
	Keys        int64 `json:"filtered_keys"` // entries in tables that have filters
}

// Quiet is how long Settle waits after compactions have ended: between two of them an engine looks
// idle for a moment.
const Quiet = quietPolls * pollEvery

const (
	quietPolls = 5
	pollEvery  = time.Millisecond
)

// settle polls until idle reports true a few times in a row. Compactions take seconds.
func settle(ctx context.Context, idle func() (bool, error)) error {
	inARow := 0
	for inARow < quietPolls {
		time.Sleep(pollEvery)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ok, err := idle()
		if err != nil {
			return err
		}
		if inARow++; !ok {
			inARow = 0
		}
	}
	return nil
}

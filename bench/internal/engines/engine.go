package engines

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

// Filters that are no kind of levelbloom's.
const (
	None    = "none"    // no filter
	BuiltIn = "builtin" // the engine's own Bloom filter
	// L6 ends the name of filters that every level of a Pebble database has, with lookups by the
	// adapter's Get, which consults those of L6 too. The database's own Get does not. For builtin,
	// Configure is not called; the adapter of Pebble v1 then calls the database's own Get.
	L6 = "+L6"
)

// An Engine opens databases.
type Engine struct {
	Name string
	L6   bool // filters may end in L6
	Open func(database) (DB, error)
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
	// Settle flushes what is in memory to tables and waits for the compactions.
	Settle(ctx context.Context) error
	Close() error
}

// A database is one that is opened again and again.
type database struct {
	Engine
	dir    string         // nothing else uses it
	filter string         // none, builtin, or as filters.PolicyOf takes it, perhaps with L6
	policy *policy.Policy // of the filter, or nil for none and builtin
	bytes  int            // of all keys and values
	cache  int            // bytes of the block cache, without the engine's memtables
	reads  *atomic.Int64  // of table data, since the database was opened
}

func (d database) String() string { return d.Name + ", " + d.filter }

// policyOf returns the policy of a filter, or nil for none and builtin.
func policyOf(filter string) (*policy.Policy, error) {
	kind := strings.TrimSuffix(filter, L6)
	if filter == None || kind == BuiltIn {
		return nil, nil
	}
	return filters.PolicyOf(kind, filters.Bits)
}

// An engine's geometry shrinks with the data, so that some MB spread over as many levels as some
// hundred GB do with the default settings. Without it most of the data would be in one level, and a
// lookup would consult few filters.
const (
	// l0Compaction is the number of overlapping tables in L0 at which an engine compacts them.
	l0Compaction = 4
	// flushes is how many parts the data are flushed in, one less than a multiple of l0Compaction:
	// L0 is as full as it gets when the last one is done.
	flushes = 5*l0Compaction - 1
	// levelFactor is how much larger a level is than the one above.
	levelFactor = 4
)

// memTable returns a size that keeps an engine from flushing by itself before a part is in.
func (d database) memTable() int { return max(4*d.bytes/flushes, 1<<20) }

// table returns the bytes of a table of any level but L0.
func (d database) table() int { return min(max(d.bytes/32, 128<<10), 64<<20) }

// baseLevel returns the bytes of the first level below L0.
func (d database) baseLevel() int { return min(max(d.bytes/64, 128<<10), 64<<20) }

// quietPolls is how often an engine must look idle in a row: between two compactions it does for a
// moment.
const quietPolls = 5

// settle polls until idle reports true a few times in a row. Compactions take seconds.
func settle(ctx context.Context, idle func() (bool, error)) error {
	inARow := 0
	for inARow < quietPolls {
		time.Sleep(time.Millisecond)
		ok, err := idle()
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if inARow++; !ok {
			inARow = 0
		}
	}
	return nil
}

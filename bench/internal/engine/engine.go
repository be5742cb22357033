// Package engine opens the storage engines that the benchmark compares, each with one kind of
// filter.
package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

// Filters that are no kind of levelbloom's.
const (
	None    = "none"    // no filter
	BuiltIn = "builtin" // the engine's own Bloom filter
	// RibbonL6 is ribbon filters in every level of a Pebble database, and lookups by the adapter's
	// Get, which asks those of L6 too. The database's own Get does not.
	RibbonL6 = ribbon + inL6
	inL6     = "+L6"
	// RibbonSmall is ribbon filters of 7 bits per key, whatever the others have. They have about as
	// few false positives as Bloom filters with 10. Other names that policy.FromString takes will do
	// as well.
	RibbonSmall = ribbon + ":7"

	ribbon = "ribbon"
)

// Config says how to open a database.
type Config struct {
	Dir    string
	Filter string  // none, builtin, ribbon+L6, or a name that kind.FromString takes
	Bits   float64 // bits per key
	BaseLg int     // goleveldb's FilterBaseLg
	Scale  Scale
	Cache  int // bytes of the block cache, besides the engine's MemTables
	// Counting opens the database read-only and counts what its filters are asked.
	Counting bool
	Disk     *Disk // if not nil, where the tables are read from
	// OnFatal is told of errors that the engine cannot go on from, before the engine gives up.
	OnFatal func(error)
}

// WholeBits returns the bits per key that engines' own filters have: they take whole ones.
func WholeBits(bits float64) int { return int(math.Ceil(bits)) }

// policy returns the policy of c's filter, or nil for none and builtin.
func (c Config) policy() (policy.Policy, error) {
	name := strings.TrimSuffix(c.Filter, inL6)
	if name == None || name == BuiltIn {
		return nil, nil
	}
	k, err := kind.FromString(name, c.Bits)
	if err == nil && k.Policy == nil {
		err = fmt.Errorf("%s: an engine has its own filters as %s", name, BuiltIn)
	}
	return k.Policy, err
}

// Scale shrinks an engine's geometry with the data, so that some MB spread over as many levels as
// some hundred GB do with the default settings. Without it most of the data would be in one level,
// and a lookup would ask few filters.
type Scale struct {
	Flushes   int // how many parts the data are flushed in
	Flush     int // bytes of a part
	Table     int // bytes of a table of any level but L0
	BaseLevel int // bytes in the first level below L0
	Factor    int // how much larger each further level is
}

// l0Compaction is the number of overlapping tables in L0 at which an engine compacts them.
const l0Compaction = 4

// ScaleFor returns the scale for so many bytes of keys and values. The number of flushes is one
// less than a multiple of l0Compaction: L0 is as full as it gets when the last one is done, as it
// is at some time in any database.
func ScaleFor(bytes int) Scale {
	flushes := 5*l0Compaction - 1
	for bytes/flushes > 64<<20 {
		flushes += l0Compaction
	}
	return Scale{
		Flushes:   flushes,
		Flush:     bytes / flushes,
		Table:     clamp(bytes/32, 128<<10, 64<<20),
		BaseLevel: clamp(bytes/64, 128<<10, 64<<20),
		Factor:    4,
	}
}

// memTable returns a size that keeps an engine from flushing by itself before a part is in.
func (s Scale) memTable() int { return max(4*s.Flush, 1<<20) }

func clamp(x, low, high int) int { return min(max(x, low), high) }

// An Engine opens databases, each in the directory that Config names, which nothing else uses.
type Engine struct {
	Name   string
	Module string // path of the Go module
	L6     bool   // RibbonL6 is one of its filters
	Open   func(Config) (DB, error)
}

// Engines lists all engines.
var Engines = []Engine{
	{"goleveldb", "github.com/syndtr/goleveldb", false, openGoLevelDB},
	{"pebblev1", "github.com/cockroachdb/pebble", true, openPebbleV1},
	{"pebblev2", "github.com/cockroachdb/pebble/v2", true, openPebbleV2},
}

// Name returns e's name.
func Name(e Engine) string { return e.Name }

// Has reports whether filter is one of e's filters.
func (e Engine) Has(filter string) bool { return filter != RibbonL6 || e.L6 }

// A DB is an open database.
type DB interface {
	Put(key, value []byte) error
	// Get reports whether key is present; it reads the value if so.
	Get(key []byte) (bool, error)
	// Settle flushes what is in memory to tables and waits until compactions are idle. It returns
	// since when they have been, which it takes some more time to make sure of.
	Settle(ctx context.Context) (idleSince time.Time, err error)
	// Compact moves all keys to the deepest level.
	Compact(ctx context.Context) error
	// Tables describes the tables on disk and their filters.
	Tables() (Tables, error)
	// Checks returns how often filters were asked since the database was opened for Counting, and
	// how often they answered "absent" and so avoided reading a table.
	Checks() (checks, avoided int64)
	Close() error
}

// Tables sums up the tables of a database.
type Tables struct {
	Tables      int64 // in all
	Filters     int64 // those that are not empty
	FilterBytes int64 // of these, and of their index
	Keys        int64 // entries in tables that have filters
}

// addTable counts a table that has one filter, or none, for all of its keys.
func (t *Tables) addTable(filterBytes, keys uint64) {
	t.Tables++
	if filterBytes > 0 {
		t.Filters++
		t.FilterBytes += int64(filterBytes)
		t.Keys += int64(keys)
	}
}

// settleTimeout bounds the wait for compactions; they take seconds.
const settleTimeout = 5 * time.Minute

// settle polls until idle reports true a few times in a row: between two compactions an engine
// looks idle for a moment.
func settle(ctx context.Context, idle func() (bool, error)) (idleSince time.Time, err error) {
	cause := fmt.Errorf("compactions did not finish within %v", settleTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, cause)
	defer cancel()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for inARow := 0; inARow < 5; {
		ok, err := idle()
		if err != nil {
			return time.Time{}, err
		}
		if !ok {
			inARow = 0
		} else if inARow++; inARow == 1 {
			idleSince = time.Now()
		}
		select {
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		case <-poll.C:
		}
	}
	return idleSince, nil
}

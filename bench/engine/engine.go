// Package engine opens the storage engines that the benchmark compares, each with the filter that a contestant uses.
package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/levelbloom/levelbloom/policy"
)

// A Filter says which filters an engine makes.
type Filter string

const (
	None       Filter = "none"       // no filter
	BuiltIn    Filter = "builtin"    // the engine's own Bloom filter
	LevelBloom Filter = "levelbloom" // LevelDB's, by this module
)

// Filters lists all filters.
var Filters = []Filter{None, BuiltIn, LevelBloom}

// Config says how to open a database.
type Config struct {
	Dir     string
	Filter  Filter
	Policy  policy.Policy // what LevelBloom uses
	Bits    int           // bits per key of BuiltIn
	Scale   Scale
	Counts  *Counts // if not nil, counts what the filters are asked, and the database is opened read-only
	OnFatal func(error)
}

// Scale shrinks an engine's geometry with the data, so that some MB spread over as many levels as some hundred GB do
// with the default settings. Without it most of the data would lie in one level, and a lookup would ask few filters.
type Scale struct {
	Flushes   int // how many parts the data are flushed in
	Flush     int // bytes of a part
	Table     int // bytes of a table of any level but L0
	BaseLevel int // bytes in the first level below L0
	Factor    int // how much larger each further level is
}

// l0Compaction is the number of tables that lie one above the other in L0 when an engine compacts them.
const l0Compaction = 4

// ScaleFor returns the scale for so many bytes of keys and values. The number of flushes is one less than a multiple of
// l0Compaction: L0 is as full as it gets when the last one is done, as it is at some time in any database.
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

// memTable returns a size that keeps an engine from flushing on its own before a part is in, with the engine's overhead.
func (s Scale) memTable() int { return max(4*s.Flush, 1<<20) }

func clamp(x, low, high int) int { return min(max(x, low), high) }

// Counts counts the questions to the filters of a database. It is safe for concurrent use.
type Counts struct {
	checks, avoided atomic.Int64
}

// add counts one answer and returns it.
func (c *Counts) add(mayContain bool) bool {
	c.checks.Add(1)
	if !mayContain {
		c.avoided.Add(1)
	}
	return mayContain
}

// Load returns how often a filter was asked, and how often it answered "absent" and so avoided reading a table.
func (c *Counts) Load() (checks, avoided int64) { return c.checks.Load(), c.avoided.Load() }

// An Engine opens databases. Its databases are in the directory that Config names, which nothing else uses.
type Engine interface {
	Name() string
	// Module is the path of the Go module.
	Module() string
	Open(Config) (DB, error)
}

// Engines lists all engines.
var Engines = []Engine{goLevelDB{}, pebbleV1{}, pebbleV2{}}

// Version returns the version of the engine's module that this program was built with.
func Version(e Engine) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == e.Module() {
				return m.Version
			}
		}
	}
	return "unknown version"
}

// A DB is an open database. Get is safe for concurrent use.
type DB interface {
	Put(key, value []byte) error
	// Get reports whether key is present; it reads the value if so.
	Get(key []byte) (bool, error)
	// Settle flushes what is in memory to tables and waits until compactions are idle.
	Settle(ctx context.Context) error
	// Tables describes the tables on disk and their filters.
	Tables() (Tables, error)
	// OwnCounts returns the engine's own count of what Counts counts, if it keeps one.
	OwnCounts() (checks, avoided int64, ok bool)
	Close() error
}

// Tables describes the tables of a database.
type Tables struct {
	Levels       []Level // L0 first
	Filters      int64   // filters that are not empty
	FilterBytes  int64   // with what it takes to find them
	FilteredKeys int64   // entries in tables with filters
}

// A Level sums up the tables of one level.
type Level struct {
	Tables int64 `json:"tables"`
	Bytes  int64 `json:"bytes"`
}

func (t Tables) String() string {
	var levels []string
	for i, l := range t.Levels {
		if l.Tables > 0 {
			levels = append(levels, fmt.Sprintf("L%d %d/%.1fMB", i, l.Tables, float64(l.Bytes)/1e6))
		}
	}
	return strings.Join(levels, "  ")
}

// settleTimeout bounds the wait for compactions; they take seconds.
const settleTimeout = 5 * time.Minute

// settle polls until idle reports true a few times in a row: between two compactions an engine looks idle for a moment.
func settle(ctx context.Context, idle func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("compactions did not come to rest within %v", settleTimeout))
	defer cancel()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for inARow := 0; inARow < 5; inARow++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
		}
		ok, err := idle()
		if err != nil {
			return err
		}
		if !ok {
			inARow = -1
		}
	}
	return nil
}

// Package engine opens the storage engines that the benchmark compares, each with the filter that a contestant uses.
package engine

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/policy"
)

// A Filter says which filters an engine makes.
type Filter string

const (
	None       Filter = "none"       // no filter
	BuiltIn    Filter = "builtin"    // the engine's own Bloom filter
	LevelBloom Filter = "levelbloom" // LevelDB's, by this module
	Blocked    Filter = "blocked"    // this module's blocked Bloom filter
	Fuse       Filter = "fuse"       // this module's binary fuse filter, or its blocked Bloom where that has fewer false positives
)

// Filters lists all filters.
var Filters = []Filter{None, BuiltIn, LevelBloom, Blocked, Fuse}

// policies makes the policies of this module's filters.
var policies = map[Filter]func(bits float64) (policy.Policy, error){
	LevelBloom: func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) },
	Blocked:    func(bits float64) (policy.Policy, error) { return policy.NewBlockedBloom(bits) },
	Fuse:       func(bits float64) (policy.Policy, error) { return policy.NewBinaryFuse(bits) },
}

// A Read is a way to look up a key.
type Read string

const (
	Get    Read = "get"    // DB.Get
	Prefix Read = "prefix" // Pebble's Iterator.SeekPrefixGE, with filters in all levels that have some
)

// Reads lists all ways to look up a key.
var Reads = []Read{Get, Prefix}

// NumLevels is the number of levels of a Pebble database.
const NumLevels = 7

// Config says how to open a database.
type Config struct {
	Dir    string
	Filter Filter
	Bits   float64 // bits per key in goleveldb
	Levels Levels  // bits per key in Pebble
	BaseLg int     // goleveldb's FilterBaseLg
	Scale  Scale
	Cache  int     // bytes of the block cache
	Counts *Counts // if not nil, counts what the filters are asked, and the database is opened read-only
	// OnFatal is told of errors that the engine cannot go on from, before the engine gives up.
	OnFatal func(error)
}

// Levels holds the bits per key of each of Pebble's levels; 0 is no filter.
type Levels [NumLevels]float64

// AllButL6 returns the same bits for all levels but L6, as Configure does: Get asks no filter there.
func AllButL6(bits float64) (l Levels) {
	for level := range NumLevels - 1 {
		l[level] = bits
	}
	return l
}

// present returns the bits of the levels that have some.
func (l Levels) present() []float64 {
	return slices.DeleteFunc(l[:], func(bits float64) bool { return bits == 0 })
}

// each returns a policy for every level that has bits.
func (l Levels) each(newPolicy func(bits float64) (policy.Policy, error)) ([]policy.Policy, error) {
	all := make([]policy.Policy, NumLevels)
	for level, bits := range l {
		if bits != 0 {
			p, err := newPolicy(bits)
			if err != nil {
				return nil, err
			}
			all[level] = p
		}
	}
	return all, nil
}

// WholeBits returns the bits per key that the engines' own filters have instead of bits: they take whole ones.
func WholeBits(bits float64) int { return int(math.Ceil(bits)) }

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
	checks, avoided, fuse atomic.Int64
}

// add counts the answer of a filter and returns it.
func (c *Counts) add(filter []byte, mayContain bool) bool {
	c.checks.Add(1)
	if kind.Of(filter).Encoding == kind.Fuse {
		c.fuse.Add(1)
	}
	if !mayContain {
		c.avoided.Add(1)
	}
	return mayContain
}

// Load returns how often a filter was asked, and how often it answered "absent" and so avoided reading a table.
func (c *Counts) Load() (checks, avoided int64) { return c.checks.Load(), c.avoided.Load() }

// Fuse returns how many of the checks asked a binary fuse filter. Fuse writes others too.
func (c *Counts) Fuse() int64 { return c.fuse.Load() }

// An Engine opens databases. Its databases are in the directory that Config names, which nothing else uses.
type Engine interface {
	Name() string
	// Module is the path of the Go module.
	Module() string
	// Reads lists the ways to look up a key.
	Reads() []Read
	// Bits returns the bits per key that a database has with a config, of each level that has some.
	Bits(Config) []float64
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

// A DB is an open database.
type DB interface {
	Put(key, value []byte) error
	// Reader returns a reader for one goroutine.
	Reader(Read) (Reader, error)
	// Settle flushes what is in memory to tables and waits until compactions are idle. It returns since when they have
	// been, which it takes some more time to make sure of.
	Settle(ctx context.Context) (idleSince time.Time, err error)
	// Tables describes the tables on disk and their filters.
	Tables() (Tables, error)
	// Stats returns the engine's own counts since the database was opened.
	Stats() Stats
	Close() error
}

// A Reader looks up keys.
type Reader interface {
	// Find reports whether key is present; it reads the value if so.
	Find(key []byte) (bool, error)
	Close() error
}

// Stats is what an engine itself counts.
type Stats struct {
	Counts          bool  // it does; otherwise the rest is 0
	Checks, Avoided int64 // what Counts counts
	BlockReads      int64 // blocks looked up in the block cache, found there or not
}

// getter is a Reader for engines whose Get needs nothing of its own.
type getter func(key []byte) (bool, error)

func (g getter) Find(key []byte) (bool, error) { return g(key) }
func (g getter) Close() error                  { return nil }

// Tables describes the tables of a database.
type Tables struct {
	Levels       []Level // L0 first
	Filters      int64   // filters that are not empty
	FilterBytes  int64   // with what it takes to find them
	FilteredKeys int64   // entries in tables with filters
	// KeysPerFilter is the mean over keys, not over filters: what a lookup meets. A few tiny tables change nothing.
	KeysPerFilter float64
}

// A Level sums up the tables of one level.
type Level struct {
	Tables      int64
	Bytes       int64
	FilterBytes int64 // part of Bytes
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
func settle(ctx context.Context, idle func() (bool, error)) (idleSince time.Time, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("compactions did not come to rest within %v", settleTimeout))
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

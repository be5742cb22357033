package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// memory is an engine in memory that records what it is told to do. Its fields make it misbehave.
// Each lookup reads twice.
type memory struct {
	data  map[string]bool
	opens []*memoryDB

	lose   bool  // keys that end in 6
	invent bool  // every key
	stuck  error // and never returns from Open
	onPut  func() error
}

func (e *memory) Open(c engine.Config) (engine.DB, error) {
	if e.stuck != nil {
		c.OnFatal(e.stuck)
		select {}
	}
	db := &memoryDB{memory: e, disk: c.Disk}
	e.opens = append(e.opens, db)
	return db, os.MkdirAll(c.Dir, 0o755)
}

// memoryDB is one opening of a memory, with the keys that it was asked for.
type memoryDB struct {
	*memory
	disk  *engine.Disk
	puts  int
	asked []string
}

func (db *memoryDB) Put(key, _ []byte) error {
	db.puts++
	db.data[string(key)] = true
	if db.onPut != nil {
		return db.onPut()
	}
	return nil
}

func (db *memoryDB) Get(key []byte) (bool, error) {
	db.asked = append(db.asked, string(key))
	if db.lose && key[len(key)-1] == '6' {
		return false, nil
	}
	db.disk.Reads.Add(2)
	return db.invent || db.data[string(key)], nil
}

func (db *memoryDB) Settle(ctx context.Context) error {
	time.Sleep(engine.Quiet) // which load takes off
	return context.Cause(ctx)
}

var tables = engine.Tables{Filters: 7, FilterBytes: 70, Keys: 700}

func (db *memoryDB) Tables() (engine.Tables, error) { return tables, nil }
func (db *memoryDB) Close() error                   { return nil }

// config returns one for an engine in memory.
func config(t *testing.T, e *memory) *Config {
	t.Setenv("TMPDIR", t.TempDir())
	e.data = map[string]bool{}
	return &Config{
		Engines:  []engine.Engine{{Name: "memory", Open: e.Open}},
		Filters:  []string{engine.None, engine.BuiltIn, "bloom", engine.RibbonL6},
		Keys:     keys.Sources([]string{"decimal"}, []string{"alternating"})[0].Set(1000, 500),
		Bits:     10,
		Disk:     time.Microsecond,
		Progress: func(int, int, string) {},
	}
}

// The short run has one round. The long one has three, whose order rotates. Both count once for
// each filter.
func TestRounds(t *testing.T) {
	for all, order := range map[bool]string{
		false: "none 1, builtin 1, bloom 1",
		true:  "none 1, builtin 1, bloom 1, builtin 2, bloom 2, none 2, bloom 3, none 3, builtin 3",
	} {
		c := config(t, new(memory))
		c.All = all
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		var got []string
		for _, r := range records.Timed {
			got = append(got, fmt.Sprintf("%s %d", r.Filter, r.Round))
			require.Equal(t, all, r.Rewritten != Pass{})
			require.Positive(t, min(r.Miss.PerSecond, r.Hit.PerSecond))
			require.Equal(t, []float64{2, 2}, []float64{r.Miss.Reads, r.Hit.Reads})
		}
		require.Equal(t, order, strings.Join(got, ", "))
		require.Len(t, records.Counted, 3)
		for _, n := range records.Counted {
			require.Equal(t, Counted{"memory", n.Filter, 375, 750, tables}, n)
		}
	}
}

// What one turn does, opening by opening: which keys it asks for, and with which cache. It asks for
// each once, or if all data is to be cached for those to be measured before, too.
func TestPasses(t *testing.T) {
	type opening struct{ puts, misses, hits int }
	load := opening{puts: 1000 + engine.Flushes + firstFlushes}
	tables, rewrite := opening{}, opening{puts: 188} // a quarter of the hits that are measured
	for cached, want := range map[bool][]opening{
		false: {load, tables, {misses: 500}, {misses: 500}, {hits: 1000}, rewrite, {hits: 188}},
		true: {load, tables, {misses: 500 + 375}, {misses: 500 + 375}, {hits: 1000 + 750},
			rewrite, {hits: 188 + 141}},
	} {
		e := new(memory)
		c := config(t, e)
		c.Filters, c.All, c.Cached = []string{engine.None}, true, cached
		_, err := c.Run(context.Background())
		require.NoError(t, err)
		var got []opening
		for _, db := range e.opens[:len(want)] {
			o, seen := opening{puts: db.puts}, map[string]bool{}
			for _, key := range db.asked {
				seen[key] = true
				if e.data[key] {
					o.hits++
				} else {
					o.misses++
				}
			}
			require.True(t, cached || len(seen) == len(db.asked), "each key once")
			got = append(got, o)
		}
		require.Equal(t, want, got)
		small := c.cache(engine.None)
		require.Equal(t, cached, small > c.dataBytes()+1<<20)
		require.Equal(t, small+1000*10/8, c.cache(engine.RibbonL6), "room for L6's filters")
	}
}

// Faults and interruptions end the run, even if an engine never returns. The turns before are kept,
// and no file is.
func TestFaultsAreNoticed(t *testing.T) {
	full, interrupted := errors.New("no space left on device"), errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	puts := 0
	interrupt := func() error {
		if puts++; puts == 2500 {
			cancel(interrupted)
		}
		return nil
	}
	for _, test := range []struct {
		engine  *memory
		message string
		is      error
		counted int
	}{
		{&memory{lose: true}, "memory, none, round 1: a key is lost: ", keys.ErrLost, 0},
		{&memory{invent: true}, "a key that was never stored was found", nil, 0},
		{&memory{onPut: func() error { return full }}, "memory, none, round 1: no space ", full, 0},
		{&memory{stuck: full}, "no space left on device", full, 0},
		{&memory{onPut: func() error { panic("a bug") }}, "panic: a bug", nil, 0},
		{&memory{onPut: interrupt}, "interrupted", interrupted, 2},
	} {
		c := config(t, test.engine)
		records, err := c.Run(ctx)
		require.ErrorContains(t, err, test.message)
		require.True(t, test.is == nil || errors.Is(err, test.is))
		require.Len(t, records.Counted, test.counted)
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// The conclusion says what was counted, of any engines and filters. Ratios are to the first filter,
// if it is one of the engine's.
func TestReport(t *testing.T) {
	c := config(t, new(memory))
	c.All, c.Cached, c.Filters = true, true, []string{engine.None}
	all := Records{
		Counted: []Counted{
			{Engine: "goleveldb", Filter: engine.None, Lookups: 1000, Reads: 4580},
			{Engine: "goleveldb", Filter: "ribbon", Lookups: 10_000, Reads: 44},
			{Engine: "pebblev2", Filter: engine.BuiltIn, Lookups: 1000, Reads: 138},
			{Engine: "pebblev2", Filter: engine.RibbonL6, Lookups: 1000, Reads: 6},
		},
		Timed: []Timed{
			{"goleveldb", "none", 1, 10, Pass{1000, 1}, Pass{2000, 2}, Pass{3000, 3}},
			{"goleveldb", "none", 2, 20, Pass{1100, 1}, Pass{2000, 2}, Pass{3000, 3}},
			{"goleveldb", "ribbon", 1, 20, Pass{3000, 1}, Pass{5000, 1}, Pass{1500, 3}},
			{"pebblev2", engine.BuiltIn, 1, 20, Pass{3000, 1}, Pass{5000, 1}, Pass{1500, 3}},
			{"pebblev2", engine.RibbonL6, 1, 20, Pass{3000, 1}, Pass{5000, 1}, Pass{1500, 3}},
		},
	}
	r := new(report.Report)
	c.Report(r, all)
	require.Equal(t, "goleveldb reads 4,580 blocks for 1,000 absent keys with no filter, 4.4 with "+
		"ribbon; pebblev2 138 with the engine's own, 6.0 with ribbon in L6 too and the adapter's "+
		"Get. All data is cached, so filters have no reads to save.", r.Conclusion)
	tables := r.Tables[0].Markdown() + r.Tables[1].Markdown()
	for _, row := range []string{
		"no filter |  | 4,580 | 1,050/s | 2,000/s", "ribbon |  | 4.4 | 3.0 | 2.5",
		"no filter |  | 2,000 | 3,000 | 3,000/s | 15/s", "ribbon |  | 1,000 | 3,000 | 0.50 | 2.0",
		"the engine's own |  | 138 |  | ", "the engine's own |  | 1,000 | 3,000 |  | ",
	} {
		require.Contains(t, tables, "| "+row+" |")
	}
}

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

	lose    bool // keys that end in 6
	invent  bool // every key
	failPut error
	onPut   func()
}

func (e *memory) Open(c engine.Config) (engine.DB, error) {
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
	if db.onPut != nil {
		db.onPut()
	}
	db.puts++
	db.data[string(key)] = true
	return db.failPut
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

// decimals returns every second one of a range of decimal keys, and absent ones.
func decimals(n, absent int) *keys.Set {
	return keys.Sources([]string{"decimal"}, []string{"alternating"})[0].Set(n, absent)
}

// config returns one for an engine in memory, and the steps that it will take.
func config(t *testing.T, e *memory) (c *Config, steps *[]string) {
	t.Setenv("TMPDIR", t.TempDir())
	e.data = map[string]bool{}
	steps = new([]string)
	return &Config{
		Engines: []engine.Engine{{Name: "memory", Open: e.Open}},
		Filters: []string{engine.None, engine.BuiltIn, "bloom", engine.RibbonL6},
		Keys:    decimals(1000, 500), Bits: 10, Disk: time.Microsecond,
		Progress: func(_, _ int, what string) { *steps = append(*steps, what) },
	}, steps
}

// The short run has one round. The long one has three, whose order rotates. Both count once for
// each filter.
func TestRounds(t *testing.T) {
	for all, order := range map[bool]string{
		false: "none 1, builtin 1, bloom 1",
		true:  "none 1, builtin 1, bloom 1, builtin 2, bloom 2, none 2, bloom 3, none 3, builtin 3",
	} {
		var want []string
		for _, turn := range strings.Split(order, ", ") {
			filter, round, _ := strings.Cut(turn, " ")
			want = append(want, fmt.Sprintf("memory, %s, round %s", filter, round))
		}
		c, steps := config(t, new(memory))
		c.All = all
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, want, *steps)
		require.Len(t, records.Timed, len(want))
		require.Len(t, records.Counted, 3)
		for _, n := range records.Counted {
			require.Equal(t, Counted{"memory", n.Filter, 375, 750, tables}, n)
		}
		for _, r := range records.Timed {
			require.Equal(t, all, r.Rewritten != Pass{})
			for _, p := range []Pass{r.Miss, r.Hit} {
				require.Positive(t, p.PerSecond)
				require.Equal(t, 2.0, p.Reads)
			}
		}
	}
}

// What one turn does, opening by opening: which keys it asks for, each once, and with which cache.
// If all data is to be cached, it asks for those to be measured before.
func TestPasses(t *testing.T) {
	type opening struct{ puts, misses, hits int }
	for cached, want := range map[bool][]opening{
		false: {
			{puts: 1000 + engine.Flushes + firstFlushes}, // load
			{},            // tables
			{misses: 500}, // count
			{misses: 500},
			{hits: 1000},
			{puts: 188}, // rewrite a quarter of those measured
			{hits: 188},
		},
		true: {
			{puts: 1000 + engine.Flushes + firstFlushes},
			{},
			{misses: 500 + 375},
			{misses: 500 + 375},
			{hits: 1000 + 750},
			{puts: 188},
			{hits: 188 + 141},
		},
	} {
		e := new(memory)
		c, _ := config(t, e)
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
		small, l6 := c.cache(engine.None), c.cache(engine.RibbonL6)
		require.Equal(t, cached, small > c.dataBytes()+1<<20)
		require.Equal(t, small+1000*10/8, l6, "room for L6's filters")
	}
}

// Faults and interruptions end the run. The turns before are kept, and no file is.
func TestFaultsAreNoticed(t *testing.T) {
	full, interrupted := errors.New("no space left on device"), errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	puts := 0
	interrupt := func() {
		if puts++; puts == 2500 {
			cancel(interrupted)
		}
	}
	for _, test := range []struct {
		engine  *memory
		message string
		is      error
		counted int
	}{
		{&memory{lose: true}, "a key is lost: ", keys.ErrLost, 0},
		{&memory{invent: true}, "a key that was never stored was found", nil, 0},
		{&memory{failPut: full}, "memory, none, round 1: no space left on device", full, 0},
		{&memory{onPut: interrupt}, "interrupted", interrupted, 2},
	} {
		c, _ := config(t, test.engine)
		records, err := c.Run(ctx)
		require.ErrorContains(t, err, test.message)
		if test.is != nil {
			require.ErrorIs(t, err, test.is)
		}
		require.Len(t, records.Counted, test.counted)
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// An engine that cannot write may say so and never return: the run ends all the same.
func TestStuckEngine(t *testing.T) {
	full := errors.New("no space left on device")
	c, _ := config(t, new(memory))
	c.Engines[0].Open = func(config engine.Config) (engine.DB, error) {
		config.OnFatal(full)
		select {}
	}
	_, err := c.Run(context.Background())
	require.ErrorIs(t, err, full)
}

// The conclusion says what was counted, of any engines and filters, and nothing else.
func TestConclusion(t *testing.T) {
	c := new(Config)
	all := []Counted{
		{Engine: "goleveldb", Filter: engine.None, Lookups: 1000, Reads: 4580},
		{Engine: "goleveldb", Filter: engine.BuiltIn, Lookups: 1000, Reads: 138},
		{Engine: "goleveldb", Filter: "ribbon", Lookups: 10_000, Reads: 44},
		{Engine: "pebblev2", Filter: "ribbon", Lookups: 1000, Reads: 904},
		{Engine: "pebblev2", Filter: engine.RibbonL6, Lookups: 1000, Reads: 6},
	}
	require.Equal(t, "goleveldb reads 4,580 blocks for 1,000 absent keys with no filter, 138 "+
		"with the engine's own, 4.4 with ribbon; pebblev2 904 with ribbon, 6.0 with ribbon in L6 too and "+
		"the adapter's Get.", c.conclusion(all))
	c.Cached = true
	require.Equal(t, "pebblev2 reads 904 blocks for 1,000 absent keys with ribbon. All data is "+
		"cached, so filters have no reads to save.", c.conclusion(all[3:4]))
}

// Ratios are to the first filter, if it is one of the engine's.
func TestReport(t *testing.T) {
	c, _ := config(t, new(memory))
	all := Records{
		Counted: []Counted{{Engine: "e", Filter: "bloom", Lookups: 1000, Reads: 9}},
		Timed: []Timed{
			{"e", "bloom", 1, 10, Pass{1000, 1}, Pass{2000, 2}, Pass{3000, 3}},
			{"e", "bloom", 2, 20, Pass{1100, 1}, Pass{2000, 2}, Pass{3000, 3}},
			{"e", "ribbon", 1, 20, Pass{3000, 1}, Pass{5000, 1}, Pass{1500, 3}},
		},
	}
	all.Counted = append(all.Counted, all.Counted[0])
	all.Counted[1].Filter = "ribbon"
	for first, want := range map[string][]string{
		"bloom": {"e bloom 9.0 1,050/s 2,000/s ", "e ribbon 9.0 3.0 2.5 ", "e bloom 2,000 3,000 " +
			"3,000/s 15/s ", "e ribbon 1,000 3,000 0.50 2.0 "},
		engine.RibbonL6: {"e bloom 9.0 e ribbon 9.0 "},
	} {
		c.Filters = []string{first}
		for _, c.All = range []bool{false, true} {
			r := new(report.Report)
			c.Report(r, all)
			var b strings.Builder
			require.NoError(t, r.WriteText(&b))
			got := strings.Join(strings.Fields(b.String()), " ")
			for i, row := range want {
				require.Equal(t, c.All || i < 2, strings.Contains(got, row), got)
			}
		}
	}
}

// In real engines the small cache has room for the filters, and not for all of the data: filters
// save reads. The large one has room for all of it.
func TestFiltersSaveReads(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, cached := range []bool{false, true} {
		c, _ := config(t, new(memory))
		c.Engines, c.Filters = engine.Engines, []string{"bloom", engine.None}
		c.Keys, c.Disk, c.Cached = decimals(5000, 1000), 0, cached
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		for i, e := range c.Engines {
			bloom, none := records.Counted[2*i], records.Counted[2*i+1]
			if cached {
				hits := records.of(e.Name, engine.None, hitReads)[0]
				require.Zero(t, hits+float64(bloom.Reads+none.Reads), e.Name)
			} else {
				require.Less(t, bloom.Reads, none.Reads/2, e.Name)
			}
		}
	}
}

package enginebench

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// memory is an engine in memory that records what it is told to do. Its fields make it slow or
// misbehave.
type memory struct {
	data    map[string]bool
	opens   []*memoryDB
	settled int

	lose    bool // keys that end in 6
	invent  bool // every key
	failPut error
	onPut   func()
}

func (e *memory) Open(c engine.Config) (engine.DB, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	db := &memoryDB{memory: e, config: c}
	e.opens = append(e.opens, db)
	return db, nil
}

// memoryDB is one opening of a memory, with the keys that it was asked for.
type memoryDB struct {
	*memory
	config    engine.Config
	puts      int
	compacted bool

	asking sync.Mutex
	asked  []string
}

func (db *memoryDB) Put(key, _ []byte) error {
	if db.onPut != nil {
		db.onPut()
	}
	db.puts++
	db.data[string(key)] = true
	return db.failPut
}

func (db *memoryDB) Settle(ctx context.Context) error {
	db.settled++
	time.Sleep(engine.Quiet)
	return context.Cause(ctx)
}

func (db *memoryDB) Compact(context.Context) error {
	db.compacted = true
	return nil
}

func (db *memoryDB) Tables() (engine.Tables, error) {
	return engine.Tables{Filters: 7, FilterBytes: 70, Keys: 700}, nil
}
func (db *memoryDB) Close() error           { return nil }
func (db *memoryDB) Checks() (int64, int64) { return int64(len(db.asked)), 99 }

func (db *memoryDB) Get(key []byte) (bool, error) {
	db.asking.Lock()
	defer db.asking.Unlock()
	db.asked = append(db.asked, string(key))
	if db.lose && key[len(key)-1] == '6' {
		return false, nil
	}
	if disk := db.config.Disk; disk != nil && disk.Latency.Load() > 0 {
		disk.Reads.Add(2)
	}
	return db.invent || db.data[string(key)], nil
}

type recorder struct {
	total int
	steps []string
}

// decimals returns every second one of a range of decimal keys, and absent ones.
func decimals(n, absent int) *keys.Set {
	return keys.Shapes[2].Sources(keys.Densities[0])[0].Set(n, absent, 1)
}

func config(t *testing.T, e *memory) (*Config, *recorder) {
	e.data = map[string]bool{}
	r := new(recorder)
	return &Config{
		Engines: []engine.Engine{{Name: "memory", Open: e.Open}},
		Filters: []string{engine.None, engine.BuiltIn, "bloom"},
		Keys:    decimals(1000, 500), ValueSize: 10, Reads: 500, Rounds: 2, Bits: 10, BaseLg: 13, Dir: t.TempDir(),
		Disk:    time.Microsecond,
		OnFatal: func(error) {},
		Progress: func(_, total int, what string) {
			r.total, r.steps = total, append(r.steps, what)
		},
	}, r
}

// run returns what Run measured.
func run(ctx context.Context, c *Config) (runs []Run, err error) {
	err = c.Run(ctx, func(r Run) { runs = append(runs, r) })
	return runs, err
}

func requireEmpty(t *testing.T, dir string) {
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRounds(t *testing.T) {
	c, progress := config(t, new(memory))
	runs, err := run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, runs, 3+8)
	require.Equal(t, 3+8, progress.total)
	require.Equal(t, []string{
		"counting: memory, none", "counting: memory, builtin", "counting: memory, bloom",
		"round 1 of 2: memory, none", "round 1 of 2: memory, builtin",
		"round 1 of 2: memory, bloom", "round 1 of 2: memory, bloom again",
		"round 2 of 2: memory, builtin", "round 2 of 2: memory, bloom",
		"round 2 of 2: memory, bloom again", "round 2 of 2: memory, none",
	}, progress.steps)
	for _, r := range runs {
		counts := []int64{r.BetweenLookups, r.BetweenChecks, r.BetweenAvoided, r.Filters,
			r.FilterBytes, r.Keys}
		if r.Round == 0 {
			require.Equal(t, []int64{500, 500, 99, 7, 70, 700}, counts)
			continue
		}
		require.Equal(t, make([]int64, 6), counts)
		for _, p := range []Pass{r.Miss, r.Hit, r.Rewritten} {
			require.Positive(t, p.PerSecond)
			require.Equal(t, 2.0, p.Reads)
		}
	}
	requireEmpty(t, c.Dir)
}

// What one run does, opening by opening: which keys it asks for, with which cache, and that nothing
// is counted while something is timed.
func TestPasses(t *testing.T) {
	for _, few := range []bool{false, true} {
		e := new(memory)
		c, _ := config(t, e)
		c.Filters, c.Rounds, c.Compact, c.Cached = []string{"bloom"}, 1, few, few
		if few { // keys: timed passes repeat them, counts do not
			c.Reads = 5000
		}
		_, err := run(context.Background(), c)
		require.NoError(t, err)
		if few {
			require.Len(t, e.opens[1].asked, 500)
			require.Len(t, e.opens[2].asked, 2*500)
			require.Len(t, e.opens[4].asked, 500+5000+1000+5000)
			require.True(t, e.opens[0].compacted)
			require.True(t, e.opens[3].compacted)
			require.False(t, e.opens[1].compacted)
			continue
		}
		require.False(t, e.opens[0].compacted)
		sorts := map[string]string{}
		for _, key := range c.Keys.Present {
			sorts[string(key)] = "hit"
		}
		for _, key := range c.Keys.Between {
			sorts[string(key)] = "between"
		}
		for _, key := range c.Keys.Sample(125) {
			sorts[string(key)] = "rewritten"
		}
		type opening struct {
			puts     int
			lookups  map[string]int
			distinct int
			counted  bool
		}
		var got []opening
		for _, db := range e.opens[:7] { // the contestant once, not again
			o := opening{db.puts, map[string]int{}, 0, db.config.Counting}
			seen := map[string]bool{}
			for _, key := range db.asked {
				seen[key] = true
				o.lookups[sorts[key]]++
			}
			o.distinct = len(seen)
			got = append(got, o)
			require.Equal(t, 13, db.config.BaseLg)
		}
		type counts = map[string]int
		require.Equal(t, []opening{
			{puts: 1000 + engine.Flushes + firstFlushes, lookups: counts{}}, // load
			{lookups: counts{"between": 500}, distinct: 500, counted: true}, // each key once
			{lookups: counts{"between": 2 * 500}, distinct: 500},
			{puts: 1000 + engine.Flushes + firstFlushes, lookups: counts{}}, // load
			{lookups: counts{"between": 2 * 500, "hit": 2 * 375, "rewritten": 2 * 125}, distinct: 1000},
			{puts: 125, lookups: counts{}},
			{lookups: counts{"rewritten": 125 + 500}, distinct: 125},
		}, got)
		require.Equal(t, 3*(engine.Flushes+firstFlushes)+2, e.settled)
		require.EqualValues(t, 2*2*500, e.opens[4].config.Disk.Reads.Load(), "timed lookups alone wait")
	}
}

// Faults and interruptions end the run. The runs before are kept, and no file is.
func TestFaultsAreNoticed(t *testing.T) {
	bug := func() { panic("a bug") }
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
		runs    int
	}{
		{&memory{lose: true}, "a key is lost: ", ErrLostKey, 3},
		{&memory{invent: true}, "a key that was never stored was found", nil, 0},
		{&memory{failPut: full}, "memory, none: no space left on device", full, 0},
		{&memory{onPut: bug}, "panic: a bug", nil, 0},
		{&memory{onPut: interrupt}, "interrupted", interrupted, 2},
	} {
		c, _ := config(t, test.engine)
		dir := c.Dir
		runs, err := c.Supervise(ctx)
		require.ErrorContains(t, err, test.message)
		if test.is != nil {
			require.ErrorIs(t, err, test.is)
		}
		require.Len(t, runs, test.runs)
		requireEmpty(t, dir)
	}
}

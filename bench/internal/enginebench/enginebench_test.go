package enginebench

import (
	"context"
	"errors"
	"os"
	"slices"
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
	busy    time.Duration // that Settle takes to make sure
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
	config engine.Config
	puts   int

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

func (db *memoryDB) Settle(ctx context.Context) (time.Time, error) {
	idleSince := time.Now()
	db.settled++
	time.Sleep(db.busy)
	return idleSince, context.Cause(ctx)
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
	return db.invent || db.data[string(key)], nil
}

type recorder struct {
	total int
	steps []string
}

func config(t *testing.T, e *memory) (*Config, *recorder) {
	shape := keys.Shapes[slices.IndexFunc(keys.Shapes, func(s keys.Shape) bool {
		return s.Name == "decimal"
	})]
	set, err := keys.NewSet(shape, keys.Densities[0], 1000, 500, 1)
	require.NoError(t, err)
	e.data = map[string]bool{}
	r := new(recorder)
	return &Config{
		Engines: []engine.Engine{{Name: "memory", Open: e.Open}},
		Filters: []string{engine.None, engine.BuiltIn, "bloom"},
		Keys:    set, ValueSize: 10, Reads: 500, Rounds: 2, Bits: 10, BaseLg: 13, Dir: t.TempDir(),
		Disks:   []time.Duration{0, time.Microsecond},
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
	require.Len(t, runs, 8)
	require.Equal(t, 8, progress.total)
	require.Equal(t, []string{
		"round 1 of 2: memory, none", "round 1 of 2: memory, builtin",
		"round 1 of 2: memory, bloom", "round 1 of 2: memory, bloom again",
		"round 2 of 2: memory, builtin", "round 2 of 2: memory, bloom",
		"round 2 of 2: memory, bloom again", "round 2 of 2: memory, none",
	}, progress.steps)
	for _, r := range runs {
		require.Len(t, r.Passes, 6)
		for i, p := range r.Passes {
			require.Positive(t, p.PerSecond)
			require.Equal(t, []int{500, 500, 125, 125, 500, 500}[i], p.Lookups)
			require.True(t, p.is(c.passes()[i]))
			require.False(t, p.is(c.passes()[5-i]))
		}
		require.Equal(t, []int64{500, 500, 99, 7, 70, 700}, []int64{r.BetweenLookups,
			r.BetweenChecks, r.BetweenAvoided, r.Filters, r.FilterBytes, r.Keys})
	}
	requireEmpty(t, c.Dir)
}

// What one run does, opening by opening: which keys it asks for, with which cache, and that nothing
// is counted while something is timed.
func TestPasses(t *testing.T) {
	e := new(memory)
	c, _ := config(t, e)
	c.Filters, c.Rounds = []string{"bloom"}, 1
	_, err := run(context.Background(), c)
	require.NoError(t, err)

	sorts := map[string]string{}
	for _, key := range c.Keys.Present(c.Keys.Len()) {
		sorts[string(key)] = "hit"
	}
	for _, key := range c.Keys.Between(1000) {
		sorts[string(key)] = "between"
	}
	type opening struct {
		puts                  int
		hit, between          int // lookups
		distinct              int
		small, large, counted bool
	}
	scale := engine.ScaleFor(c.DataBytes())
	var got []opening
	for _, db := range e.opens[:5] { // the contestant once, not again
		o := opening{
			puts:    db.puts,
			small:   db.config.Cache == c.SmallCache(),
			large:   db.config.Cache == c.LargeCache(),
			counted: db.config.Counting,
		}
		seen := map[string]bool{}
		for _, key := range db.asked {
			seen[key] = true
			switch sorts[key] {
			case "hit":
				o.hit++
			case "between":
				o.between++
			}
		}
		o.distinct = len(seen)
		got = append(got, o)
		require.Equal(t, "bloom", db.config.Filter)
		require.Equal(t, 10.0, db.config.Bits)
		require.Equal(t, 13, db.config.BaseLg)
		require.Equal(t, scale, db.config.Scale)
	}
	require.Equal(t, []opening{
		{puts: 1000 + scale.Flushes + firstFlushes, small: true}, // load
		// A tenth first; a quarter on a slow disk.
		{hit: 50 + 500 + 50 + 125, between: 50 + 500 + 50 + 125, distinct: 1000, small: true},
		{hit: 500 + 500, between: 500 + 500, distinct: 1000, large: true}, // all first
		{small: true}, // the tables
		{between: 500, distinct: 500, small: true, counted: true}, // each key once
	}, got)
	require.Equal(t, 2*(scale.Flushes+firstFlushes), e.settled)
}

// If a contestant asks L6, keys are written again after all else, and then looked up.
func TestRewritten(t *testing.T) {
	e := new(memory)
	c, progress := config(t, e)
	c.Engines[0].L6 = true
	c.Filters, c.Rounds = []string{engine.RibbonL6}, 1
	runs, err := run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, 2, progress.total)
	require.Equal(t, 125, e.opens[5].puts)
	require.Len(t, e.opens[6].asked, 125+500+125+125) // all first
	for _, key := range e.opens[6].asked {
		require.Contains(t, c.Keys.Present(125), []byte(key))
	}
	passes := runs[0].Passes[6:]
	require.Len(t, passes, 2)
	for i, disk := range c.Disks {
		require.True(t, passes[i].is(newPass(Small, disk, Rewritten)))
	}

	// In an engine without L6 that contestant does not run.
	c.Engines[0].L6 = false
	c.Filters = []string{engine.RibbonL6, "bloom"}
	runs, err = run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, runs, 2)
	for _, r := range runs {
		require.NotEqual(t, engine.RibbonL6, r.Contestant)
	}
}

func TestCompact(t *testing.T) {
	for _, compact := range []bool{false, true} {
		e := new(memory)
		c, _ := config(t, e)
		c.Compact, c.Rounds = compact, 1
		_, err := run(context.Background(), c)
		require.NoError(t, err)
		require.Equal(t, compact, e.opens[0].compacted)
		require.False(t, e.opens[1].compacted)
	}
}

// Fewer keys than lookups: timed passes repeat them, counts do not.
func TestFewKeys(t *testing.T) {
	e := new(memory)
	c, _ := config(t, e)
	c.Reads = 5000
	runs, err := run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, int64(500), runs[0].BetweenLookups)
	require.Len(t, e.opens[1].asked, 50+5000+50+1250+100+5000+100+1250)
}

// What Settle takes to make sure that all is idle is not the load's.
func TestWaitingIsNotLoading(t *testing.T) {
	e := &memory{busy: 20 * time.Millisecond}
	c, _ := config(t, e)
	db, err := e.Open(engine.Config{Dir: c.Dir})
	require.NoError(t, err)
	start := time.Now()
	perSecond, err := c.load(context.Background(), db, make([]byte, 1<<20+c.ValueSize), 19)
	elapsed := time.Since(start)
	require.NoError(t, err)
	require.Greater(t, perSecond, 1000/(elapsed-19*e.busy).Seconds())
}

// Faults end the run; the runs before are kept.
func TestFaultsAreNoticed(t *testing.T) {
	full := errors.New("no space left on device")
	for _, test := range []struct {
		engine  *memory
		message string
		is      error
	}{
		{&memory{lose: true}, "a key is lost: ", ErrLostKey},
		{&memory{invent: true}, "a key that was never stored was found", nil},
		{&memory{failPut: full}, "memory, none: no space left on device", full},
	} {
		t.Run(test.message, func(t *testing.T) {
			c, _ := config(t, test.engine)
			_, err := run(context.Background(), c)
			require.ErrorContains(t, err, test.message)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			requireEmpty(t, c.Dir)
		})
	}
}

func TestInterruption(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	puts := 0
	c, _ := config(t, &memory{onPut: func() {
		if puts++; puts == 2500 {
			cancel(cause)
		}
	}})
	runs, err := run(ctx, c)
	require.ErrorIs(t, err, cause)
	require.Len(t, runs, 2, "the finished runs are kept")
	requireEmpty(t, c.Dir)
}

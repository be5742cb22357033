package measure

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
)

// memory is an engine in memory that records what it is told to do. Its fields make it slow or misbehave.
type memory struct {
	mutex   sync.Mutex
	data    map[string]bool
	opens   []*memoryDB
	settled int

	lose      bool // keys that end in 7
	invent    bool // every key
	ownChecks int64
	ownAvoids int64
	failPut   error
	onPut     func()
	delay     func(key []byte) time.Duration // of a lookup; may be nil
	busy      time.Duration                  // that Settle takes to make sure
}

func (*memory) Name() string                 { return "memory" }
func (*memory) Module() string               { return "none" }
func (*memory) Reads() []engine.Read         { return []engine.Read{engine.Get} }
func (*memory) Bits(engine.Config) []float64 { return nil }

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
	config  engine.Config
	puts    int
	readers int
	asked   []string
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

func (db *memoryDB) Reader(engine.Read) (engine.Reader, error) {
	db.mutex.Lock()
	defer db.mutex.Unlock()
	db.readers++
	return db, nil
}

func (db *memoryDB) Tables() (engine.Tables, error) { return engine.Tables{Filters: 7}, nil }
func (db *memoryDB) Close() error                   { return nil }
func (db *memoryDB) Stats() engine.Stats {
	return engine.Stats{Counts: true, Checks: db.ownChecks, Avoided: db.ownAvoids, BlockReads: 3 * int64(len(db.asked))}
}

func (db *memoryDB) Find(key []byte) (bool, error) {
	if db.delay != nil {
		time.Sleep(db.delay(key))
	}
	db.mutex.Lock()
	defer db.mutex.Unlock()
	db.asked = append(db.asked, string(key))
	if db.lose && key[len(key)-1] == '7' {
		return false, nil
	}
	return db.invent || db.data[string(key)], nil
}

type recorder struct {
	total int
	steps []string
	done  bool
}

func (r *recorder) Start(total int)  { r.total = total }
func (r *recorder) Next(what string) { r.steps = append(r.steps, what) }
func (r *recorder) Done()            { r.done = true }

func config(t *testing.T, e *memory) (*Config, *recorder) {
	shape, err := keyset.ShapeNamed("decimal")
	require.NoError(t, err)
	keys, err := keyset.New(shape, 1000, 0.5, 1)
	require.NoError(t, err)
	e.data = map[string]bool{}
	progress := new(recorder)
	return &Config{
		Engines: []engine.Engine{e}, Filters: []engine.Filter{engine.None, engine.BuiltIn, engine.LevelBloom}, Keys: keys, ValueSize: 10, Read: engine.Reads, Reads: 500, Threads: 3,
		Rounds: 2, Bits: 10, Levels: engine.AllButL6(12), BaseLg: 13, Dir: t.TempDir(), Progress: progress, OnFatal: func(error) {},
	}, progress
}

func requireEmpty(t *testing.T, dir string) {
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRounds(t *testing.T) {
	c, progress := config(t, new(memory))
	runs, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, runs, 8)
	require.Equal(t, 8, progress.total)
	require.True(t, progress.done)
	require.Equal(t, []string{
		"round 1 of 2: memory, none", "round 1 of 2: memory, builtin", "round 1 of 2: memory, levelbloom", "round 1 of 2: memory, levelbloom again",
		"round 2 of 2: memory, builtin", "round 2 of 2: memory, levelbloom", "round 2 of 2: memory, levelbloom again", "round 2 of 2: memory, none",
	}, progress.steps)
	for _, contestant := range c.Contestants(c.Engines[0]) {
		own := Of(runs, contestant)
		require.Len(t, own, 2)
		for i, run := range own {
			require.Equal(t, i+1, run.Round)
			require.Len(t, run.Lookups, 1, "this engine has one way of two")
			l := run.Lookups[0]
			require.Equal(t, engine.Get, l.Read)
			for _, pass := range []Pass{run.Load, l.SmallCache.Miss, l.SmallCache.Hit, l.LargeCache.Miss, l.LargeCache.Hit} {
				require.Positive(t, pass.PerSecond)
				require.Positive(t, pass.P50)
				require.GreaterOrEqual(t, pass.P99, pass.P50)
			}
			require.Equal(t, Answers{Lookups: 500, BlockReads: 1500}, l.Between)
			require.Equal(t, int64(7), run.Tables.Filters)
		}
	}
	requireEmpty(t, c.Dir)
}

// What one run does, opening by opening: which keys it asks for, with which cache, and that nothing is counted while
// something is timed.
func TestPasses(t *testing.T) {
	e := new(memory)
	c, _ := config(t, e)
	c.Filters, c.Rounds = []engine.Filter{engine.LevelBloom}, 1
	_, err := c.Run(context.Background())
	require.NoError(t, err)

	kinds := map[string]string{}
	for _, key := range c.Keys.Present(c.Keys.Len()) {
		kinds[string(key)] = "hit"
	}
	for _, key := range c.Keys.Between(1000) {
		kinds[string(key)] = "between"
	}
	for _, key := range c.Keys.Beyond(500) {
		kinds[string(key)] = "beyond"
	}
	type opening struct {
		puts, readers         int
		hit, between, beyond  int // lookups
		distinct              int
		small, large, counted bool
	}
	scale := engine.ScaleFor(c.DataBytes())
	var got []opening
	for _, db := range e.opens[:6] { // the contestant once, not again
		o := opening{puts: db.puts, readers: db.readers, small: db.config.Cache == c.SmallCache(), large: db.config.Cache == c.LargeCache(), counted: db.config.Counts != nil}
		seen := map[string]bool{}
		for _, key := range db.asked {
			seen[key] = true
			switch kinds[key] {
			case "hit":
				o.hit++
			case "between":
				o.between++
			case "beyond":
				o.beyond++
			}
		}
		o.distinct = len(seen)
		got = append(got, o)
		require.Equal(t, engine.LevelBloom, db.config.Filter)
		require.Equal(t, 10.0, db.config.Bits)
		require.Equal(t, engine.AllButL6(12), db.config.Levels)
		require.Equal(t, 13, db.config.BaseLg)
		require.Equal(t, scale, db.config.Scale)
	}
	require.Equal(t, []opening{
		{puts: 1000 + scale.Flushes + firstFlushes, small: true},                       // load
		{readers: 12, hit: 50 + 500, between: 50 + 500, distinct: 1000, small: true},   // a tenth first
		{readers: 12, hit: 500 + 500, between: 500 + 500, distinct: 1000, large: true}, // all first
		{readers: 1, between: 500, distinct: 500, small: true, counted: true},          // each key once
		{readers: 1, beyond: 500, distinct: 500, small: true, counted: true},           // each key once
		{small: true}, // the tables
	}, got)
	require.Equal(t, 2*(scale.Flushes+firstFlushes), e.settled)
}

// Fewer keys than lookups: timed passes repeat them, counts do not.
func TestFewKeys(t *testing.T) {
	e := new(memory)
	c, _ := config(t, e)
	c.Reads = 5000
	runs, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(1000), runs[0].Lookups[0].Between.Lookups)
	require.Len(t, e.opens[1].asked, 2*(100+5000))
}

// The second of four threads is slow, the others are not: p99 is a latency of the one, p50 one of the others. Sleeps are
// no shorter than asked for, so the lower bounds hold on any machine; the upper one is wide.
func TestLatencies(t *testing.T) {
	const slow, fast = 20 * time.Millisecond, 100 * time.Microsecond
	e := new(memory)
	c, _ := config(t, e)
	keys := c.Keys.Between(640)
	place := map[string]int{}
	for i, key := range keys {
		place[string(key)] = i
	}
	e.delay = func(key []byte) time.Duration {
		if place[string(key)]%64 == 1 { // the second thread's lookups 0, 16, 32 ..., which are those that are timed
			return slow
		}
		return fast
	}
	db, err := e.Open(engine.Config{Dir: c.Dir})
	require.NoError(t, err)
	start := time.Now()
	pass, err := timed(context.Background(), db, engine.Get, keys, 640, false, 4)
	elapsed := time.Since(start)
	require.NoError(t, err)
	require.GreaterOrEqual(t, pass.P99, slow*999/1000) // three digits
	require.GreaterOrEqual(t, pass.P50, fast*999/1000)
	require.Less(t, pass.P50, slow)
	require.InEpsilon(t, 640/elapsed.Seconds(), pass.PerSecond, 0.2)
}

// What Settle takes to make sure that all is idle is not the load's.
func TestWaitingIsNotLoading(t *testing.T) {
	e := &memory{busy: 20 * time.Millisecond}
	c, _ := config(t, e)
	db, err := e.Open(engine.Config{Dir: c.Dir})
	require.NoError(t, err)
	start := time.Now()
	load, err := c.load(context.Background(), db, make([]byte, 1<<20+c.ValueSize), 19)
	elapsed := time.Since(start)
	require.NoError(t, err)
	waited := 19 * e.busy
	require.Greater(t, load.PerSecond, 1000/(elapsed-waited).Seconds())
}

func TestFaultsAreNoticed(t *testing.T) {
	full := errors.New("no space left on device")
	for _, test := range []struct {
		engine  *memory
		message string
		is      error
	}{
		{&memory{lose: true}, "a key is lost: ", ErrLostKey},
		{&memory{invent: true}, "a key that was never stored was found", nil},
		{&memory{ownChecks: 1}, "the engine counted 1 checks and 0 reads avoided, we 0 and 0", nil},
		{&memory{ownAvoids: 1}, "the engine counted 0 checks and 1 reads avoided, we 0 and 0", nil},
		{&memory{failPut: full}, "memory, none: no space left on device", full},
	} {
		t.Run(test.message, func(t *testing.T) {
			c, progress := config(t, test.engine)
			_, err := c.Run(context.Background())
			require.ErrorContains(t, err, test.message)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			require.True(t, progress.done)
			requireEmpty(t, c.Dir)
		})
	}
}

func TestInterruption(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	puts := 0
	c, _ := config(t, &memory{onPut: func() {
		if puts++; puts == 500 {
			cancel(cause)
		}
	}})
	_, err := c.Run(ctx)
	require.ErrorIs(t, err, cause)
	requireEmpty(t, c.Dir)
}

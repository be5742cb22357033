package measure

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
)

// memory is an engine in memory whose filter is asked once per lookup and never errs; its fields make it misbehave.
type memory struct {
	data    *map[string]bool
	lose    bool  // keys that end in 7
	invent  bool  // every key
	ownOff  int64 // by how much its own count is off
	failPut error
	onPut   func()
}

func (memory) Name() string   { return "memory" }
func (memory) Module() string { return "none" }
func (e memory) Open(c engine.Config) (engine.DB, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	return &memoryDB{e, c}, nil
}

type memoryDB struct {
	memory
	config engine.Config
}

func (db *memoryDB) Put(key, _ []byte) error {
	if db.onPut != nil {
		db.onPut()
	}
	(*db.data)[string(key)] = true
	return db.failPut
}
func (db *memoryDB) Get(key []byte) (bool, error) {
	if db.lose && key[len(key)-1] == '7' {
		return false, nil
	}
	return db.invent || (*db.data)[string(key)], nil
}
func (db *memoryDB) Settle(ctx context.Context) error            { return context.Cause(ctx) }
func (db *memoryDB) Tables() (engine.Tables, error)              { return engine.Tables{Filters: 7}, nil }
func (db *memoryDB) OwnCounts() (checks, avoided int64, ok bool) { return db.ownOff, 0, true }
func (db *memoryDB) Close() error                                { return nil }

type recorder struct {
	total int
	steps []string
	done  bool
}

func (r *recorder) Start(total int)  { r.total = total }
func (r *recorder) Next(what string) { r.steps = append(r.steps, what) }
func (r *recorder) Done()            { r.done = true }

func config(t *testing.T, e memory) (*Config, *recorder) {
	shape, err := keyset.ShapeNamed("decimal")
	require.NoError(t, err)
	keys, err := keyset.New(shape, 1000, 0.5, 1)
	require.NoError(t, err)
	e.data = &map[string]bool{}
	progress := new(recorder)
	return &Config{
		Engines: []engine.Engine{&e}, Filters: engine.Filters, Keys: keys, ValueSize: 10, Reads: 500, Threads: 3,
		Rounds: 2, Bits: 10, Dir: t.TempDir(), Progress: progress, OnFatal: func(error) {},
	}, progress
}

func TestRounds(t *testing.T) {
	c, progress := config(t, memory{})
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
			require.Positive(t, run.LoadPerSecond)
			require.Positive(t, run.Miss.PerSecond)
			require.Positive(t, run.Hit.P99)
			require.GreaterOrEqual(t, run.Hit.P99, run.Hit.P50)
			require.Equal(t, int64(500), run.Between.Lookups)
			require.Equal(t, int64(7), run.Tables.Filters)
		}
	}
	left, err := os.ReadDir(c.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFaultsAreNoticed(t *testing.T) {
	full := errors.New("no space left on device")
	for _, test := range []struct {
		engine  memory
		message string
		is      error
	}{
		{memory{lose: true}, "a key is lost: ", ErrLostKey},
		{memory{invent: true}, "a key that was never stored was found", nil},
		{memory{ownOff: 1}, "the engine counted 1 checks and 0 reads avoided, we 0 and 0", nil},
		{memory{failPut: full}, "memory, none: no space left on device", full},
	} {
		t.Run(test.message, func(t *testing.T) {
			c, progress := config(t, test.engine)
			_, err := c.Run(context.Background())
			require.ErrorContains(t, err, test.message)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			require.True(t, progress.done)
			left, err := os.ReadDir(c.Dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestInterruption(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	puts := 0
	c, _ := config(t, memory{onPut: func() {
		if puts++; puts == 500 {
			cancel(cause)
		}
	}})
	_, err := c.Run(ctx)
	require.ErrorIs(t, err, cause)
	left, err := os.ReadDir(c.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

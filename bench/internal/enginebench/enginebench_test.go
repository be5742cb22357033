package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// memory is an engine in memory that records what it is told to do. Its fields make it slow or
// misbehave. Each lookup reads twice.
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
	config engine.Config
	puts   int

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

func (db *memoryDB) Tables() (engine.Tables, error) {
	return engine.Tables{Filters: 7, FilterBytes: 70, Keys: 700}, nil
}
func (db *memoryDB) Close() error { return nil }

func (db *memoryDB) Get(key []byte) (bool, error) {
	db.asking.Lock()
	defer db.asking.Unlock()
	db.asked = append(db.asked, string(key))
	if db.lose && key[len(key)-1] == '6' {
		return false, nil
	}
	db.config.Disk.Reads.Add(2)
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
		Filters: []string{engine.None, engine.BuiltIn, "bloom", engine.RibbonL6},
		Keys:    decimals(1000, 500), Bits: 10, Dir: t.TempDir(), Disk: time.Microsecond,
		OnFatal: func(error) {},
		Progress: func(_, total int, what string) {
			r.total, r.steps = total, append(r.steps, what)
		},
	}, r
}

// run returns what Run measured.
func run(ctx context.Context, c *Config) (all Records, err error) {
	err = c.Run(ctx, all.add)
	return all, err
}

func requireEmpty(t *testing.T, dir string) {
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The short run has one round. The long one has three, whose order rotates. Both count once for
// each filter.
func TestRounds(t *testing.T) {
	for all, order := range map[bool]string{
		false: "none 1, builtin 1, bloom 1",
		true:  "none 1, builtin 1, bloom 1, builtin 2, bloom 2, none 2, bloom 3, none 3, builtin 3",
	} {
		var steps []string
		for _, turn := range strings.Split(order, ", ") {
			filter, round, _ := strings.Cut(turn, " ")
			steps = append(steps, fmt.Sprintf("memory, %s, round %s", filter, round))
		}
		c, progress := config(t, new(memory))
		c.All = all
		records, err := run(context.Background(), c)
		require.NoError(t, err)
		require.Equal(t, steps, progress.steps)
		require.Equal(t, len(steps), progress.total)
		require.Len(t, records.Timed, len(steps))
		require.Len(t, records.Counted, 3)
		for _, n := range records.Counted {
			require.Equal(t, Counted{"memory", n.Filter, 375, 750, 7, 70, 700}, n)
		}
		for _, r := range records.Timed {
			require.Equal(t, all, r.Rewritten != Pass{})
			for _, p := range []Pass{r.Miss, r.Hit} {
				require.Positive(t, p.PerSecond)
				require.Equal(t, 2.0, p.Reads)
			}
		}
		requireEmpty(t, c.Dir)
	}
}

// What one turn does, opening by opening: which keys it asks for, each once, and with which cache.
// If all data is to be cached, it asks for those to be measured before, and 20 times.
func TestPasses(t *testing.T) {
	for _, cached := range []bool{false, true} {
		e := new(memory)
		c, _ := config(t, e)
		c.Filters, c.All, c.Cached = []string{engine.None}, true, cached
		_, err := run(context.Background(), c)
		require.NoError(t, err)
		sorts := map[string]string{}
		for _, key := range c.Keys.Present {
			sorts[string(key)] = "hit"
		}
		for _, key := range c.Keys.Between {
			sorts[string(key)] = "miss"
		}
		type counts = map[string]int
		type opening struct {
			puts    int
			lookups counts
		}
		var got []opening
		for _, db := range e.opens[:5] {
			o := opening{db.puts, counts{}}
			seen := map[string]bool{}
			for _, key := range db.asked {
				o.lookups[sorts[key]]++
				seen[key] = true
			}
			if !cached {
				require.Len(t, seen, len(db.asked), "each key once")
			}
			got = append(got, o)
		}
		want := []opening{
			{1000 + engine.Flushes + firstFlushes, counts{}}, // load
			{0, counts{"miss": 500}},                         // count
			{0, counts{"miss": 500, "hit": 1000}},            // time
			{188, counts{}},                                  // rewrite a quarter of those measured
			{0, counts{"hit": 188}},
		}
		if cached {
			want[1].lookups = counts{"miss": 500 + 375}
			want[2].lookups = counts{"miss": 500 + 20*375, "hit": 1000 + 20*750}
			want[4].lookups = counts{"hit": 188 + 20*141}
		}
		require.Equal(t, want, got)
		small, l6 := c.Cache(engine.None), c.Cache(engine.RibbonL6)
		require.Equal(t, cached, small > c.DataBytes()+1<<20)
		require.Equal(t, !cached, l6 == small+1000*10/8, "room for L6's filters")
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
		counted int
	}{
		{&memory{lose: true}, "a key is lost: ", keys.ErrLost, 0},
		{&memory{invent: true}, "a key that was never stored was found", nil, 0},
		{&memory{failPut: full}, "memory, none, round 1: no space left on device", full, 0},
		{&memory{onPut: bug}, "panic: a bug", nil, 0},
		{&memory{onPut: interrupt}, "interrupted", interrupted, 2},
	} {
		c, _ := config(t, test.engine)
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		records, err := c.Supervise(ctx)
		require.ErrorContains(t, err, test.message)
		if test.is != nil {
			require.ErrorIs(t, err, test.is)
		}
		require.Len(t, records.Counted, test.counted)
		requireEmpty(t, dir)
	}
}

package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// memory is an engine in memory that records what it is told to do. Its fields make it misbehave.
// Each lookup reads twice.
type memory struct {
	data  map[string]bool
	opens []*memoryDB

	lose   bool // keys that end in 6
	invent bool // every key
	onPut  func() error
}

func (e *memory) Open(d database) (DB, error) {
	db := &memoryDB{memory: e, reads: d.reads}
	e.opens = append(e.opens, db)
	err := os.MkdirAll(d.dir, 0o755)
	return db, errors.Join(err, os.WriteFile(filepath.Join(d.dir, "1.sst"), make([]byte, 77), 0o600),
		os.WriteFile(filepath.Join(d.dir, "1.log"), make([]byte, 99), 0o600))
}

// memoryDB is one opening of a memory, with the keys that it was asked for.
type memoryDB struct {
	*memory
	reads  *atomic.Int64
	puts   int
	asked  []string
	closed bool
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
	db.reads.Add(2)
	return db.invent || db.data[string(key)], nil
}

func (db *memoryDB) Settle(ctx context.Context) error { return context.Cause(ctx) }

func (db *memoryDB) Close() error {
	db.closed = true
	return nil
}

// config returns one for an engine in memory.
func config(t *testing.T, e *memory) *Config {
	t.Setenv("TMPDIR", t.TempDir())
	e.data = map[string]bool{}
	return &Config{
		Engines:  []Engine{{Name: "memory", Open: e.Open}},
		Filters:  []string{None, BuiltIn, "bloom", RibbonL6},
		Keys:     keys.ShapesOf("decimal")[0].Set(1000, 500),
		Progress: func(int, int, string) {},
	}
}

// Each filter that an engine has is measured, and in each lookup two reads are counted.
func TestCounts(t *testing.T) {
	c := config(t, new(memory))
	records, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, records, 3)
	for i, r := range records {
		require.Equal(t, Record{"memory", c.Filters[i], 1000, 77, Pass{375, 750, r.Absent.Seconds},
			Pass{750, 1500, r.Present.Seconds}}, r)
		require.Len(t, r.Absent.Seconds, rounds)
		require.Len(t, r.Present.Seconds, rounds)
	}
	c.Filters = []string{RibbonL6}
	_, err = c.Run(context.Background())
	require.ErrorContains(t, err, "no L6")
}

// What is done with one filter, opening by opening: which keys it asks for, and with which cache.
// It asks for each once, or if all data is to be cached for those to be measured before, too.
// Rounds are alike.
func TestPasses(t *testing.T) {
	type opening struct{ puts, absent, present int }
	load := opening{puts: 1000 + firstFlushes}
	for cached, want := range map[bool][]opening{
		false: {load, {absent: 500}, {present: 1000}},
		true:  {load, {absent: 875}, {present: 1750}},
	} {
		e := new(memory)
		c := config(t, e)
		c.Filters, c.Cached = []string{None}, cached
		_, err := c.Run(context.Background())
		require.NoError(t, err)
		var got []opening
		for _, db := range e.opens {
			o, seen := opening{puts: db.puts}, map[string]bool{}
			for _, key := range db.asked {
				seen[key] = true
				if e.data[key] {
					o.present++
				} else {
					o.absent++
				}
			}
			require.True(t, cached || len(seen) == len(db.asked), "each key once")
			got = append(got, o)
		}
		for range rounds - 1 {
			want = append(want, want[1:3]...)
		}
		require.Equal(t, want, got)
		small := c.cache(None)
		require.Equal(t, cached, small > c.dataBytes()+1<<20)
		require.Equal(t, small+1000*10/8, c.cache(RibbonL6), "room for L6's filters")
	}
}

// Faults and interruptions end the run. What was counted before is kept, and no file is. A database
// that could not be written is not closed.
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
		kept    int
	}{
		{&memory{lose: true}, "memory, none: a key is lost: ", keys.ErrLost, 0},
		{&memory{invent: true}, "a key that was never stored was found", nil, 0},
		{&memory{onPut: func() error { return full }}, "memory, none: no space ", full, 0},
		{&memory{onPut: interrupt}, "interrupted", interrupted, 2},
	} {
		c := config(t, test.engine)
		records, err := c.Run(ctx)
		require.ErrorContains(t, err, test.message)
		require.True(t, test.is == nil || errors.Is(err, test.is))
		require.Len(t, records, test.kept)
		last := test.engine.opens[len(test.engine.opens)-1]
		require.Equal(t, test.is == interrupted, last.closed)
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// The conclusion is about the best filter in each engine, if there is no filter to compare it with.
func TestConclusion(t *testing.T) {
	for want, reads := range map[string]string{
		"Of the reads for absent decimal keys, ribbon filters leave 1 of 1,100 in goleveldb, and with " +
			"the adapter's Get 1 of 4.0 in Pebble v2.": "goleveldb none 4580, goleveldb ribbon 4, " +
			"goleveldb bloom 5, pebblev2 none 4000, pebblev2 ribbon+L6 1000, pebblev2 ribbon 2000",
		"Of the reads for absent decimal keys, ribbon:7 filters leave none in goleveldb, and bloom " +
			"filters 1 of 2.0 in Pebble v1.": "goleveldb none 9, goleveldb ribbon:7 0, " +
			"pebblev1 none 20, pebblev1 bloom 10",
		"": "goleveldb bloom 9, goleveldb ribbon 1, pebblev2 none 7, pebblev1 none 0",
	} {
		var all []Record
		for _, record := range strings.Split(reads, ", ") {
			r := Record{}
			_, err := fmt.Sscan(record, &r.Engine, &r.Filter, &r.Absent.Blocks)
			require.NoError(t, err)
			all = append(all, r)
		}
		require.Equal(t, want, config(t, new(memory)).conclusion(all))
	}
}

// Speeds are ratios to no filter in the same round, and the median of the rounds. Each read adds
// what a disk takes.
func TestSpeeds(t *testing.T) {
	none := Pass{Lookups: 1000, Blocks: 2000, Seconds: []float64{1, 3, 2}}
	some := Pass{Lookups: 1000, Blocks: 0, Seconds: []float64{0.5, 1, 1, 9}}
	for _, c := range []struct {
		want    string
		p, none Pass
		disk    time.Duration
	}{
		{"500/s", none, Pass{}, 0}, {"250/s", none, Pass{}, time.Millisecond},
		{"2.0x", some, none, 0}, {"5.0x", some, none, time.Millisecond},
		{"1.0x", none, none, time.Second}, {"4.0x", some, Pass{1000, 4, []float64{1}}, time.Second / 4},
	} {
		require.Equal(t, c.want, speed(c.p, c.none, c.disk), "%v", c)
	}
}

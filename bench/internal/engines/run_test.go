package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// memory is an engine in memory that records how often it is opened, and what it is asked for. Its
// fields make it misbehave. Each lookup reads twice, but if it has filters, only one in 256.
type memory struct {
	data    map[string]bool
	opens   []*memoryDB
	filters bool

	lose, invent, full bool
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
	if db.full {
		return syscall.ENOSPC
	}
	db.puts++
	db.data[string(key)] = true
	return nil
}

func (db *memoryDB) Get(key []byte) (bool, error) {
	db.asked = append(db.asked, string(key))
	if !db.filters || len(db.asked)%256 == 0 {
		db.reads.Add(2)
	}
	return db.invent || db.data[string(key)] && !db.lose, nil
}

func (db *memoryDB) Settle(context.Context) error { return nil }

func (db *memoryDB) Close() error {
	db.closed = true
	return nil
}

// config returns one for an engine in memory.
func config(t *testing.T, e *memory) *Config {
	e.data = map[string]bool{}
	return &Config{
		Engines:  []Engine{{Name: "memory", Open: e.Open}},
		Filters:  []string{None, BuiltIn, "bloom", "ribbon+L6"},
		Keys:     keys.ShapesOf("decimal")[0].Set(1000, 500),
		Progress: func(int, int, string) {},
	}
}

// What is done with the filters that an engine has, opening by opening: for which keys it is asked,
// and with which cache. It is asked for each once, or if all data is to be cached for those to be
// measured before, too. Rounds are alike. In each lookup two reads are counted.
func TestPasses(t *testing.T) {
	type opening struct{ puts, absent, present int }
	for cached, want := range map[bool][]opening{
		false: {{puts: 1000 + firstFlushes}, {absent: 500}, {present: 1000}},
		true:  {{puts: 1000 + firstFlushes}, {absent: 875}, {present: 1750}},
	} {
		e := new(memory)
		c := config(t, e)
		c.Cached, c.Engines[0].L6 = cached, cached
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		n := map[bool]int{false: 3, true: 4}[cached]
		require.Len(t, records, n)
		for i, r := range records {
			require.Equal(t, Record{"memory", c.Filters[i], 1000, 77,
				Pass{375, 750, r.Absent.Seconds}, Pass{750, 1500, r.Present.Seconds}}, r)
			require.Len(t, r.Absent.Seconds, rounds)
			require.Len(t, r.Present.Seconds, rounds)
		}
		var got []opening
		for _, db := range e.opens {
			require.True(t, db.closed)
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
		want = slices.Concat(slices.Repeat(want, n), slices.Repeat(want[1:], n*(rounds-1)))
		require.Equal(t, want, got)
		small := c.cache(None)
		require.Equal(t, cached, small > c.dataBytes()+1<<20)
		require.Equal(t, small+1000*10/8, c.cache("bloom+L6"), "room for L6's filters")
	}
}

// The first round goes on until it has counted enough, or all absent keys.
func TestCountsEnough(t *testing.T) {
	e := &memory{filters: true}
	for absent, want := range map[int]Pass{
		20_000:    {Lookups: 20_000 - lookups/4, Blocks: 2 * (20_000/256 - 16)},
		MaxAbsent: {Lookups: 500 * 256, Blocks: enoughBlocks},
	} {
		c := config(t, e)
		c.Filters, c.Keys = []string{None}, keys.ShapesOf("random")[0].Set(10, absent)
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		want.Seconds = records[0].Absent.Seconds
		require.Equal(t, want, records[0].Absent)
		require.Len(t, e.opens[len(e.opens)-2].asked, lookups, "in the last round")
	}
}

// Faults end the run. A database that fails is not closed, but one that is interrupted.
func TestFaultsAreNoticed(t *testing.T) {
	for message, e := range map[string]*memory{
		"memory, none: a key is lost: ":                       {lose: true},
		"memory, none: a key that was never stored was found": {invent: true},
		"memory, none: " + syscall.ENOSPC.Error():             {full: true},
	} {
		_, err := config(t, e).Run(context.Background())
		require.ErrorContains(t, err, message)
		require.Equal(t, e.lose, errors.Is(err, keys.ErrLost))
		require.False(t, e.opens[len(e.opens)-1].closed)
	}
	ctx, interrupt := context.WithCancel(context.Background())
	interrupt()
	e := new(memory)
	_, err := config(t, e).Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, len(e.opens) == 1 && e.opens[0].closed)
}

// The conclusion is about the best filter in each engine, if there is no filter to compare it with.
func TestConclusion(t *testing.T) {
	for want, reads := range map[string]string{
		"Of the reads for absent decimal keys, ribbon filters leave about 1 of 20 in goleveldb, and " +
			"with the adapter's Get about 1 of 22 in Pebble v2.": "goleveldb none 15900, " +
			"goleveldb ribbon 999, goleveldb bloom 1001, pebblev2 none 22000, " +
			"pebblev2 ribbon+L6 1000, pebblev2 ribbon 2000",
		"Of the reads for absent decimal keys, ribbon:7 filters leave none in goleveldb, and the " +
			"engine's own filters with the adapter's Get about 1 of 2.0 in Pebble v1.": "goleveldb " +
			"none 9, goleveldb ribbon:7 0, pebblev1 none 20, pebblev1 builtin+L6 10",
		"": "goleveldb bloom 9, goleveldb ribbon 1, pebblev2 none 7, pebblev1 none 0",
	} {
		var all []Record
		for _, record := range strings.Split(reads, ", ") {
			r := Record{Absent: Pass{Lookups: 10_000}}
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
	none := Pass{Lookups: 1, Blocks: 2, Seconds: []float64{.001, .003, .002}}
	some := Pass{Lookups: 1, Blocks: 0, Seconds: []float64{.0005, .001, .001, .009}}
	for _, c := range []struct {
		want    string
		p, none Pass
		disk    time.Duration
	}{
		{"500/s", none, Pass{}, 0}, {"250/s", none, Pass{}, time.Millisecond},
		{"2.0x", some, none, 0}, {"5.0x", some, none, time.Millisecond},
		{"1.0x", none, none, time.Hour}, {"4.0x", some, Pass{250, 1, []float64{.001}}, time.Second / 4},
	} {
		require.Equal(t, c.want, speed(c.p, c.none, c.disk), "%v", c)
	}
}

// Settle ends when the engine was idle often enough in a row.
func TestSettleEnds(t *testing.T) {
	calls := 0 // idle from the 8th time on; the busy ones before start the count anew
	require.NoError(t, settle(context.Background(), func() (bool, error) {
		calls++
		return calls >= 8 || calls%3 == 0, nil
	}))
	require.Equal(t, 7+quietPolls, calls)
	failed := errors.New("failed")
	ctx, interrupt := context.WithCancel(context.Background())
	require.ErrorIs(t, settle(ctx, func() (bool, error) { return true, failed }), failed)
	interrupt()
	require.ErrorIs(t, settle(ctx, func() (bool, error) { return false, nil }), context.Canceled)
}

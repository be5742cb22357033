package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const num = 6000

func key(i int) []byte { return fmt.Appendf(nil, "key %08d", i) }

func config(t *testing.T, filter string) Config {
	return Config{
		Dir: t.TempDir(), Filter: filter, Bits: 10, Bytes: num * 20, Cache: 64 << 10,
		OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
	}
}

// fill stores the even ones of 2*num keys.
func fill(t *testing.T, db DB) {
	for part := range Flushes {
		for i := part; i < num; i += Flushes {
			require.NoError(t, db.Put(key(2*i), key(i)))
		}
		start := time.Now()
		require.NoError(t, db.Settle(context.Background()))
		require.GreaterOrEqual(t, time.Since(start), Quiet-pollEvery)
	}
}

// Every engine with every filter stores and finds keys, and reports its tables and its filters.
// Reads of tables wait, and nothing else does. Filters avoid reads of absent keys, and those of L6
// nearly all.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, e := range Engines {
		reads := map[string]int64{}
		for _, filter := range []string{None, BuiltIn, "ribbon:7", "ribbon", RibbonL6} {
			if e.Supports(filter) {
				reads[filter] = testEngine(t, e, filter)
			}
		}
		t.Log(e.Name, reads)
		for filter := range reads {
			if filter != None {
				require.Less(t, reads[filter], reads[None]/8, filter)
			}
		}
		require.Less(t, reads["ribbon"], reads[BuiltIn])
		if e.L6 {
			require.Less(t, reads[RibbonL6], reads["ribbon"]/2)
		}
	}
}

// testEngine returns the reads of the absent keys.
func testEngine(t *testing.T, e Engine, filter string) (reads int64) {
	const latency = 2 * time.Millisecond
	config := config(t, filter)
	config.Disk = new(Disk)
	db, err := e.Open(config)
	require.NoError(t, err)
	require.NoError(t, db.Put(key(0), key(0)))
	_, err = db.Get(key(0))
	require.NoError(t, err)
	require.Zero(t, config.Disk.Reads.Load(), "the key is in memory")
	fill(t, db)
	require.NoError(t, db.Close())

	config.Disk = new(Disk)
	db, err = e.Open(config)
	require.NoError(t, err)
	before := config.Disk.Reads.Load()
	config.Disk.Latency.Store(int64(latency))
	start := time.Now()
	_, err = db.Get(key(0))
	require.NoError(t, err)
	waits := config.Disk.Reads.Load() - before
	require.Positive(t, waits)
	require.GreaterOrEqual(t, time.Since(start), time.Duration(waits)*latency)
	config.Disk.Latency.Store(0)
	for absent := range 2 {
		before = config.Disk.Reads.Load()
		for i := range num {
			i = i * 4999 % num // in another order than the blocks': few are in the cache
			found, err := db.Get(key(2*i + absent))
			require.NoError(t, err)
			require.Equal(t, absent == 0, found, "key %d", 2*i+absent)
		}
	}
	reads = config.Disk.Reads.Load() - before
	sum, err := db.Tables()
	require.NoError(t, err)
	if filter == None {
		require.Zero(t, sum.Filters)
	} else {
		require.Greater(t, sum.Keys, int64(num/10))
		require.Greater(t, sum.Keys/sum.Filters, int64(10))
		// Bits, and a little for what is around them.
		perKey, size := float64(sum.FilterBytes)/float64(sum.Keys), 10/8.0
		if filter == "ribbon:7" {
			size = 7 / 8.0
		}
		require.GreaterOrEqual(t, perKey, size)
		require.Less(t, perKey, 1.5*size)
	}
	require.NoError(t, db.Close())
	return reads
}

// Settle ends with the context, with an error, or when the engine was idle often enough in a row.
func TestSettleEnds(t *testing.T) {
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(context.Background())
	calls := 0
	require.ErrorIs(t, settle(ctx, func() (bool, error) {
		if calls++; calls == 7 {
			cancel(cause)
		}
		return calls%4 != 0, nil
	}), cause)
	fails := func() (bool, error) { return false, cause }
	require.ErrorIs(t, settle(context.Background(), fails), cause)
	calls = 0 // idle from the 8th time on; the busy ones in between start the count anew
	require.NoError(t, settle(context.Background(), func() (bool, error) {
		calls++
		return calls >= 8 || calls%3 == 0, nil
	}))
	require.Equal(t, 7+quietPolls, calls)
}

// Tables of C++ LevelDB; the numbers are those of a reader in Python.
func TestReadTables(t *testing.T) {
	for path, want := range map[string]Tables{
		"large_values/000005.ldb":    {1, 1516, 166 - 124, 1047, 50}, // most windows are empty
		"basic_snappy_4k/000005.ldb": {1, 2421, 68 - 2, 6617, 5000},
		"no_filter/000005.ldb":       {1, 941, 0, 0, 0},
	} {
		var got Tables
		require.NoError(t, got.read("../../../testdata/leveldb/tables/"+path))
		require.Equal(t, want, got, path)
	}
}

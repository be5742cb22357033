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
		Dir: t.TempDir(), Filter: filter, Bits: 10, Bytes: num * 20, Cache: 1 << 20,
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

// Every engine with every filter stores and finds keys, and reports its tables, its filters and
// how these were consulted. Reads of tables wait, and nothing else does. With all keys in the
// deepest level, filters avoid reads in every engine that consults them there.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, e := range Engines {
		for _, c := range []struct {
			filter  string
			compact bool
		}{{None, false}, {BuiltIn, false}, {RibbonSmall, false}, {RibbonL6, false}, {ribbon, true},
			{RibbonL6, true}} {
			if e.Has(c.filter) {
				t.Run(fmt.Sprintf("%s/%s/%v", e.Name, c.filter, c.compact), func(t *testing.T) {
					testEngine(t, e, config(t, c.filter), c.compact)
				})
			}
		}
	}
}

func testEngine(t *testing.T, e Engine, config Config, compact bool) {
	const latency = 2 * time.Millisecond
	config.Disk = new(Disk)
	db, err := e.Open(config)
	require.NoError(t, err)
	require.NoError(t, db.Put(key(0), key(0)))
	_, err = db.Get(key(0))
	require.NoError(t, err)
	require.Zero(t, config.Disk.Reads.Load(), "the key is in memory")
	fill(t, db)
	if compact {
		require.NoError(t, db.Compact(context.Background()))
	}
	require.NoError(t, db.Close())

	config.Counting = true
	db, err = e.Open(config)
	require.NoError(t, err)
	before := config.Disk.Reads.Load()
	config.Disk.Latency.Store(int64(latency))
	start := time.Now()
	_, err = db.Get(key(0))
	require.NoError(t, err)
	reads := config.Disk.Reads.Load() - before
	require.Positive(t, reads)
	require.GreaterOrEqual(t, time.Since(start), time.Duration(reads)*latency)
	config.Disk.Latency.Store(0)
	for i := range num {
		for absent := range 2 {
			found, err := db.Get(key(2*i + absent))
			require.NoError(t, err)
			require.Equal(t, absent == 0, found, "key %d", 2*i+absent)
		}
	}
	checks, avoided := db.Checks()
	sum, err := db.Tables()
	require.NoError(t, err)
	switch {
	case config.Filter == None:
		require.Zero(t, checks)
		require.Zero(t, sum.Filters)
	case compact && e.L6 && config.Filter != RibbonL6:
		require.Zero(t, avoided)
	default:
		require.Greater(t, checks, int64(num/2))
		require.Greater(t, avoided, checks/3)
		require.Less(t, avoided, checks)
		if compact {
			require.Greater(t, avoided, int64(num*9/10))
			require.LessOrEqual(t, checks, int64(2*num), "one filter for each lookup, and once")
		}
		require.Greater(t, sum.Keys, int64(num/10))
		require.Greater(t, sum.Keys/sum.Filters, int64(10))
		// Bits, and a little for what is around them.
		perKey, size := float64(sum.FilterBytes)/float64(sum.Keys), 10/8.0
		if config.Filter == RibbonSmall {
			size = 7 / 8.0
		}
		require.GreaterOrEqual(t, perKey, size)
		require.Less(t, perKey, 1.5*size)
	}
	require.NoError(t, db.Close())
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
	require.ErrorIs(t, settle(context.Background(), func() (bool, error) { return false, cause }), cause)
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
		"large_values/000005.ldb":    {1, 1516, 166 - 124, 1047, 50}, // most of its windows are empty
		"basic_snappy_4k/000005.ldb": {1, 2421, 68 - 2, 6617, 5000},
		"no_filter/000005.ldb":       {1, 941, 0, 0, 0},
	} {
		var got Tables
		require.NoError(t, got.read("../../../testdata/leveldb/tables/"+path))
		require.Equal(t, want, got, path)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const num = 6000

func key(i int) []byte { return fmt.Appendf(nil, "key %08d", i) }

// Every engine with every filter stores and finds keys, and reports its filters. Filters avoid
// reads of absent keys, and those of L6 nearly all.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, e := range Engines {
		reads := map[string]int64{}
		for _, filter := range []string{None, BuiltIn, "ribbon:7", "ribbon", RibbonL6} {
			if filter != RibbonL6 || e.L6 {
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

// testEngine stores the even ones of 2*num keys, looks all of them up, and returns the reads of the
// absent ones.
func testEngine(t *testing.T, e Engine, filter string) int64 {
	config := Config{Dir: t.TempDir(), Filter: filter, Bits: 10, Bytes: num * 20, Cache: 64 << 10,
		Disk: new(Disk), OnFatal: func(err error) { t.Errorf("fatal: %v", err) }}
	open := func() DB {
		db, err := e.Open(config)
		require.NoError(t, err)
		return db
	}
	db := open()
	require.NoError(t, db.Put(key(0), key(0)))
	_, err := db.Get(key(0))
	require.NoError(t, err)
	require.Zero(t, config.Disk.Reads.Load(), "the key is in memory")
	for part := range Flushes {
		for i := part; i < num; i += Flushes {
			require.NoError(t, db.Put(key(2*i), key(i)))
		}
		require.NoError(t, db.Settle(context.Background()))
	}
	require.NoError(t, db.Close())

	db = open()
	sum, err := db.Tables()
	require.NoError(t, err)
	requireFilters(t, sum, filter)
	reads := [2]int64{}
	for absent := range reads {
		before := config.Disk.Reads.Load()
		for i := range num {
			i = i * 4999 % num // in another order than the blocks': few are in the cache
			found, err := db.Get(key(2*i + absent))
			require.NoError(t, err)
			require.Equal(t, absent == 0, found, "key %d", 2*i+absent)
		}
		reads[absent] = config.Disk.Reads.Load() - before
	}
	require.Positive(t, reads[0])
	require.NoError(t, db.Close())
	return reads[1]
}

// requireFilters requires filters of as many bits per key as filter has, and a little for what is
// around them.
func requireFilters(t *testing.T, sum Tables, filter string) {
	if filter == None {
		require.Zero(t, sum.Filters)
		return
	}
	require.Greater(t, sum.Keys, int64(num/10))
	require.Greater(t, sum.Keys/sum.Filters, int64(10))
	bits := 10.0
	if filter == "ribbon:7" {
		bits = 7
	}
	perKey := 8 * float64(sum.FilterBytes) / float64(sum.Keys)
	require.GreaterOrEqual(t, perKey, bits)
	require.Less(t, perKey, 1.5*bits)
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
		"large_values/000005.ldb":    {166 - 124, 1047, 50}, // most windows are empty
		"basic_snappy_4k/000005.ldb": {68 - 2, 6617, 5000},
		"no_filter/000005.ldb":       {0, 0, 0},
	} {
		var got Tables
		require.NoError(t, got.read("../../../testdata/leveldb/tables/"+path))
		require.Equal(t, want, got, path)
	}
}

package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble"
	pebblev2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

func key(i int) []byte { return fmt.Appendf(nil, "key %08d", i) }

// fill stores the even ones of 2*num keys.
func fill(t *testing.T, db DB, scale Scale, num int) {
	for part := range scale.Flushes {
		for i := part; i < num; i += scale.Flushes {
			require.NoError(t, db.Put(key(2*i), key(i)))
		}
		before := time.Now()
		idleSince, err := db.Settle(context.Background())
		require.NoError(t, err)
		require.True(t, before.Before(idleSince) && idleSince.Before(time.Now()))
	}
}

// Every engine with every filter stores and finds keys, and reports its tables, its filters and
// what these were asked.
func TestEngines(t *testing.T) {
	const num, bits = 6000, 10
	for _, e := range Engines {
		for _, filter := range []string{None, BuiltIn, "bloom", "tuned", RibbonSmall, RibbonL6, ribbon} {
			if !e.Has(filter) {
				continue
			}
			t.Run(e.Name+"/"+filter, func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: filter, Bits: bits, Scale: ScaleFor(num * 20),
					Cache:   1 << 20,
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				db, err := e.Open(config)
				require.NoError(t, err)
				fill(t, db, config.Scale, num)
				sum, err := db.Tables()
				require.NoError(t, err)
				require.NoError(t, db.Close())
				if filter == None {
					require.Zero(t, sum.Filters+sum.FilterBytes+sum.Keys)
				} else {
					require.Greater(t, sum.Keys, int64(num/10))
					// Bits, and a little for what is around them.
					perKey, size := float64(sum.FilterBytes)/float64(sum.Keys), bits/8.0
					if filter == RibbonSmall {
						size = 7 / 8.0
					}
					require.GreaterOrEqual(t, perKey, size)
					require.Less(t, perKey, 1.5*size)
					require.Greater(t, sum.Keys/sum.Filters, int64(10))
				}

				config.Counting = true
				db, err = e.Open(config)
				require.NoError(t, err)
				for i := range num {
					for absent := range 2 {
						found, err := db.Get(key(2*i + absent))
						require.NoError(t, err)
						require.Equal(t, absent == 0, found, "key %d", 2*i+absent)
					}
				}
				checks, avoided := db.Checks()
				if filter == None {
					require.Zero(t, checks)
				} else {
					require.Greater(t, checks, int64(num/2))
					require.Greater(t, avoided, checks/3)
					require.Less(t, avoided, checks)
				}
				require.NoError(t, db.Close())
			})
		}
	}
}

// With all keys in the deepest level, filters avoid reads in every engine that asks them there.
func TestCompact(t *testing.T) {
	const num = 6000
	for _, e := range Engines {
		for _, filter := range []string{"ribbon", RibbonL6} {
			if !e.Has(filter) {
				continue
			}
			t.Run(e.Name+"/"+filter, func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: filter, Bits: 10, Scale: ScaleFor(num * 20),
					Cache:   1 << 20,
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				db, err := e.Open(config)
				require.NoError(t, err)
				fill(t, db, config.Scale, num)
				require.NoError(t, db.Compact(context.Background()))
				require.NoError(t, db.Close())

				config.Counting = true
				db, err = e.Open(config)
				require.NoError(t, err)
				for i := range num {
					found, err := db.Get(key(2*i + 1))
					require.NoError(t, err)
					require.False(t, found)
				}
				_, avoided := db.Checks()
				if e.L6 && filter != RibbonL6 {
					require.Zero(t, avoided)
				} else {
					require.Greater(t, avoided, int64(num*9/10))
				}
				require.NoError(t, db.Close())
			})
		}
	}
}

// What memtables take out of the block cache is what the caches are larger by.
func TestMemTables(t *testing.T) {
	for _, e := range Engines {
		config := Config{
			Dir: t.TempDir(), Filter: None, Scale: ScaleFor(1 << 20),
			OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
		}
		db, err := e.Open(config)
		require.NoError(t, err)
		fill(t, db, config.Scale, 100)
		require.NoError(t, db.Close())
		db, err = e.Open(config)
		require.NoError(t, err)
		var taken uint64
		switch db := db.(type) {
		case *pebbleDB[*pebble.WriteOptions]:
			m := db.pebbleVersion.(*pebble.DB).Metrics().MemTable
			taken = m.Size + m.ZombieSize
		case *pebbleDB[*pebblev2.WriteOptions]:
			m := db.pebbleVersion.(*pebblev2.DB).Metrics().MemTable
			taken = m.Size + m.ZombieSize
		}
		require.EqualValues(t, taken, map[string]int{"pebblev1": pebbleV1MemTables,
			"pebblev2": pebbleV2MemTables}[e.Name], e.Name)
		require.NoError(t, db.Close())
	}
}

func TestScale(t *testing.T) {
	for _, bytes := range []int{1, 1 << 20, 1 << 25, 1 << 30} {
		s := ScaleFor(bytes)
		require.Equal(t, l0Compaction-1, s.Flushes%l0Compaction)
		require.LessOrEqual(t, s.Flush, 64<<20)
		require.Greater(t, s.memTable(), s.Flush)
	}
}

func TestSettleEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := fmt.Errorf("the cause")
	calls := 0
	_, err := settle(ctx, func() (bool, error) {
		if calls++; calls == 7 {
			cancel(cause)
		}
		return calls%4 != 0, nil // never idle often enough in a row
	})
	require.ErrorIs(t, err, cause)
	_, err = settle(context.Background(), func() (bool, error) { return false, cause })
	require.ErrorIs(t, err, cause)

	// Idle from the 8th time on; the busy ones in between start the count anew.
	var since time.Time
	calls = 0
	got, err := settle(context.Background(), func() (bool, error) {
		if calls++; calls == 8 {
			since = time.Now()
		}
		return calls >= 8 || calls%3 == 0, nil
	})
	require.NoError(t, err)
	require.Equal(t, 12, calls)
	require.False(t, got.Before(since))
}

// Tables of C++ LevelDB; the numbers are those of a reader in Python.
func TestReadTables(t *testing.T) {
	for path, want := range map[string]Tables{
		"large_values/000005.ldb":    {1, 166 - 124, 1047, 50}, // most of its windows are empty
		"basic_snappy_4k/000005.ldb": {1, 68 - 2, 6617, 5000},
		"no_filter/000005.ldb":       {Tables: 1},
	} {
		var got Tables
		require.NoError(t, got.read("../../../testdata/leveldb/tables/"+path))
		require.Equal(t, want, got, path)
	}
}

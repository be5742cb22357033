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
		for _, filter := range Filters() {
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
				levels, err := db.Tables()
				require.NoError(t, err)
				require.NoError(t, db.Close())
				require.NotZero(t, levels[0].Tables, "%v", levels)
				var sum Level
				for _, l := range levels {
					sum.Filters += l.Filters
					sum.FilterBytes += l.FilterBytes
					sum.Keys += l.Keys
				}
				if filter == None {
					require.Zero(t, sum)
				} else {
					require.Greater(t, sum.Keys, int64(num/10), "%v", levels)
					// Bits, and a little for what is around them.
					perKey := float64(sum.FilterBytes) / float64(sum.Keys)
					require.GreaterOrEqual(t, perKey, bits/8.0)
					require.Less(t, perKey, 1.5*bits/8.0)
					require.Greater(t, levels[0].KeysPerFilter, 10.0)
				}
				if e.Levels && len(levels) == NumLevels {
					require.Equal(t, filter == RibbonL6, levels[NumLevels-1].Filters > 0,
						"the engine's Get asks no filter in L6")
				}

				config.Counts = new(Counts)
				db, err = e.Open(config)
				require.NoError(t, err)
				for i := range num {
					for absent := range 2 {
						found, err := db.Get(key(2*i + absent))
						require.NoError(t, err)
						require.Equal(t, absent == 0, found, "key %d", 2*i+absent)
					}
				}
				checks, avoided := config.Counts.Sum()
				if filter == None {
					require.Zero(t, checks)
				} else {
					require.Greater(t, checks, int64(num/2))
					require.Greater(t, avoided, checks/3)
					require.Less(t, avoided, checks)
				}
				if own, ownAvoided, ok := db.Checks(); ok {
					require.Equal(t, []int64{checks, avoided}, []int64{own, ownAvoided})
				}
				for level := range NumLevels {
					if n, _ := config.Counts.Level(level); n > 0 {
						require.True(t, level == 0 || levels[level].Filters > 0,
							"L%d has no filters", level)
					}
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

				config.Counts = new(Counts)
				db, err = e.Open(config)
				require.NoError(t, err)
				levels, err := db.Tables()
				require.NoError(t, err)
				for _, l := range levels[:len(levels)-1] {
					require.Zero(t, l.Tables, "%v", levels)
				}
				for i := range num {
					found, err := db.Get(key(2*i + 1))
					require.NoError(t, err)
					require.False(t, found)
				}
				_, avoided := config.Counts.Sum()
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
		require.EqualValues(t, taken, e.MemTables, e.Name)
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

package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// Every engine with every filter stores and finds keys, and reports its tables, its filters and what these were asked.
func TestEngines(t *testing.T) {
	const num, bits = 20000, 10
	for _, e := range Engines {
		for _, filter := range Filters {
			t.Run(e.Name()+"/"+string(filter), func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: filter, Bits: bits, Levels: AllButL6(bits), Scale: ScaleFor(num * 20), Cache: 1 << 20,
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				db, err := e.Open(config)
				require.NoError(t, err)
				fill(t, db, config.Scale, num)
				tables, err := db.Tables()
				require.NoError(t, err)
				require.NoError(t, db.Close())
				require.NotZero(t, tables.Levels[0].Tables, "%v", tables)
				if filter == None {
					require.Zero(t, tables.Filters)
				} else {
					require.NotZero(t, tables.Filters)
					require.Greater(t, tables.FilteredKeys, int64(num/10), "%v", tables)
					// Bits, and a little for what is around them.
					perKey := float64(tables.FilterBytes) / float64(tables.FilteredKeys)
					require.GreaterOrEqual(t, perKey, bits/8.0)
					require.Less(t, perKey, 1.5*bits/8.0)
				}

				for _, read := range e.Reads() {
					config.Counts = new(Counts)
					db, err = e.Open(config)
					require.NoError(t, err)
					reader, err := db.Reader(read)
					require.NoError(t, err)
					for i := range num {
						for absent := range 2 {
							found, err := reader.Find(key(2*i + absent))
							require.NoError(t, err)
							require.Equal(t, absent == 0, found, "%s, key %d", read, 2*i+absent)
						}
					}
					require.NoError(t, reader.Close())
					checks, avoided := config.Counts.Load()
					if filter == None {
						require.Zero(t, checks)
					} else {
						require.Greater(t, checks, int64(num/2))
						require.Greater(t, avoided, checks/3)
						require.Less(t, avoided, checks)
					}
					stats := db.Stats()
					if stats.Counts {
						require.Equal(t, []int64{checks, avoided}, []int64{stats.Checks, stats.Avoided})
						require.Positive(t, stats.BlockReads)
					}
					require.NoError(t, db.Close())
				}
			})
		}
	}
}

// Bits of their own for every level, L6 too, which is asked by SeekPrefixGE alone.
func TestLevels(t *testing.T) {
	const num = 20000
	for _, e := range Engines {
		if len(e.Reads()) == 1 {
			continue
		}
		for _, filter := range []Filter{BuiltIn, LevelBloom, Blocked} {
			t.Run(e.Name()+"/"+string(filter), func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: filter, Levels: Levels{6: 20}, Scale: ScaleFor(num * 20), Cache: 1 << 20,
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				require.Equal(t, []float64{20}, e.Bits(config))
				db, err := e.Open(config)
				require.NoError(t, err)
				fill(t, db, config.Scale, num)
				tables, err := db.Tables()
				require.NoError(t, err)
				require.NoError(t, db.Close())
				require.Equal(t, tables.Levels[NumLevels-1].Tables, tables.Filters, "%v", tables)
				require.InDelta(t, 20.0/8, float64(tables.FilterBytes)/float64(tables.FilteredKeys), 0.1)

				for read, asked := range map[Read]bool{Get: false, Prefix: true} {
					config.Counts = new(Counts)
					db, err := e.Open(config)
					require.NoError(t, err)
					reader, err := db.Reader(read)
					require.NoError(t, err)
					for i := range num {
						found, err := reader.Find(key(i))
						require.NoError(t, err)
						require.Equal(t, i%2 == 0, found)
					}
					require.NoError(t, reader.Close())
					require.NoError(t, db.Close())
					checks, _ := config.Counts.Load()
					require.Equal(t, asked, checks > 0, "%s: %d checks", read, checks)
				}
			})
		}
	}
}

// Fuse writes binary fuse filters where there are keys and bits enough, and blocked Bloom where not; the counts tell them apart.
func TestFuse(t *testing.T) {
	const num = 8000
	for _, e := range Engines {
		for _, c := range []struct {
			filter Filter
			bits   float64
			fuse   bool
		}{{Fuse, 26, true}, {Fuse, 5, false}, {Blocked, 12, false}} {
			t.Run(fmt.Sprintf("%s/%s/%v", e.Name(), c.filter, c.bits), func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: c.filter, Bits: c.bits, Levels: AllButL6(c.bits), BaseLg: 20, Scale: ScaleFor(num * 20), Cache: 1 << 20,
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				db, err := e.Open(config)
				require.NoError(t, err)
				fill(t, db, config.Scale, num)
				require.NoError(t, db.Close())
				config.Counts = new(Counts)
				db, err = e.Open(config)
				require.NoError(t, err)
				reader, err := db.Reader(Get)
				require.NoError(t, err)
				for i := range num {
					found, err := reader.Find(key(i))
					require.NoError(t, err)
					require.Equal(t, i%2 == 0, found, "key %d", i)
				}
				require.NoError(t, reader.Close())
				require.NoError(t, db.Close())
				checks, _ := config.Counts.Load()
				require.Greater(t, checks, int64(num/4))
				if c.fuse {
					require.Greater(t, config.Counts.Fuse(), checks/2)
					require.LessOrEqual(t, config.Counts.Fuse(), checks)
				} else {
					require.Zero(t, config.Counts.Fuse())
				}
			})
		}
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

package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// Every engine with every filter stores and finds keys, and reports its tables, its filters and what these were asked.
func TestEngines(t *testing.T) {
	const num, bits = 20000, 10
	bloom, err := policy.NewBloom(bits)
	require.NoError(t, err)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %08d", i) }
	for _, e := range Engines {
		for _, filter := range Filters {
			t.Run(e.Name()+"/"+string(filter), func(t *testing.T) {
				config := Config{
					Dir: t.TempDir(), Filter: filter, Policy: bloom, Bits: bits, Scale: ScaleFor(num * 20),
					OnFatal: func(err error) { t.Errorf("fatal: %v", err) },
				}
				db, err := e.Open(config)
				require.NoError(t, err)
				for part := range config.Scale.Flushes {
					for i := part; i < num; i += config.Scale.Flushes {
						require.NoError(t, db.Put(key(2*i), key(i)))
					}
					require.NoError(t, db.Settle(context.Background()))
				}
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
				checks, avoided := config.Counts.Load()
				if filter == None {
					require.Zero(t, checks)
				} else {
					require.Greater(t, checks, int64(num/2))
					require.Greater(t, avoided, checks/3)
					require.Less(t, avoided, checks)
				}
				if c, a, ok := db.OwnCounts(); ok {
					require.Equal(t, []int64{checks, avoided}, []int64{c, a})
				}
				require.NoError(t, db.Close())
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
	err := settle(ctx, func() (bool, error) {
		if calls++; calls == 7 {
			cancel(cause)
		}
		return calls%4 != 0, nil // never idle often enough in a row
	})
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, settle(context.Background(), func() (bool, error) { return false, cause }), cause)
	require.NoError(t, settle(context.Background(), func() (bool, error) { return true, nil }))
}

package analysis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// The measured rates against those of all absent keys of the range, in the shapes and densities
// where LevelDB's filters do so differently: all are asked for if they are no more than 65536, and
// else a sample.
func TestRatesAgainstAllAbsentKeys(t *testing.T) {
	for _, c := range []struct {
		format string
		part   float64
		n      int
	}{
		{"%016d", 0.63, 18_000}, {"%016d", 0.5, 18_000}, {"%016d", 0.1, 18_000}, {"%016d", 0.01, 6_000},
		{"key%08d", 0.63, 18_000}, {"%016d", 0.5, 100_000}, {"user%016d", 0.63, 200_000}, {"%016x", 0.63, 150_000}, {"acct:%010d:bal", 0.1, 20_000},
	} {
		if testing.Short() && c.n > 20_000 {
			continue
		}
		for layout, table := range map[string]func(keys [][]byte) *fakeTable{
			"one filter": func(keys [][]byte) *fakeTable { return wholeTable(t, keys, 10) },
			"windows":    func(keys [][]byte) *fakeTable { return windowTable(t, keys, 10, 4096, 11) },
		} {
			t.Run(fmt.Sprintf("%d keys of %v of %s, %s", c.n, c.part, c.format, layout), func(t *testing.T) {
				set := numbered(seeded(t, uint64(c.n)+uint64(1000*c.part)), c.format, 1_000_000, c.n, c.part)
				table := table(set.present)
				passed := 0
				for _, key := range set.absent {
					asked, may := table.ask(key)
					require.True(t, asked)
					if may {
						passed++
					}
				}
				r := analyze(t, table, Options{Seed: 1})
				require.True(t, r.Verified)
				require.Zero(t, r.FalseNegatives)
				require.EqualValues(t, c.n, r.Entries)
				require.EqualValues(t, c.n, r.Keys)
				if len(set.absent) <= 1<<16 {
					require.EqualValues(t, len(set.absent), r.Between.Asked)
					require.EqualValues(t, passed, r.Between.Passed)
					return
				}
				require.InDelta(t, 1<<16, r.Between.Asked, 1)
				requireRate(t, float64(passed)/float64(len(set.absent)), r.Between)
			})
		}
	}
}

// requireRate compares a rate with the true one, give or take five standard errors.
func requireRate(t *testing.T, want float64, got Rate) {
	require.InDelta(t, want, got.Rate, 5*math.Sqrt(want*(1-want)/float64(got.Asked)))
}

// For random keys all kinds of absent keys are random ones, and a filter of 18,000 keys at 10 bits
// lets 0.9 % pass.
func TestRandomKeysHaveOneRate(t *testing.T) {
	rng := seeded(t, 1)
	keys := make([][]byte, 18_000)
	for i := range keys {
		keys[i] = make([]byte, 16)
		for j := range keys[i] {
			keys[i][j] = byte(rng.Uint32())
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	table := wholeTable(t, keys, 10)
	passed := 0
	const asked = 1_000_000
	key := make([]byte, 16)
	for range asked {
		for j := range key {
			key[j] = byte(rng.Uint32())
		}
		if table.info.Filters.Reader.MayContain(table.info.Filters.Each[0], key) {
			passed++
		}
	}
	r := analyze(t, table, Options{})
	require.Equal(t, "16 bytes", r.KeyShape)
	for _, rate := range []Rate{r.Between, r.Beyond, r.Random} {
		require.EqualValues(t, 1<<16, rate.Asked)
		requireRate(t, float64(passed)/asked, rate)
	}
}

// Keys that belong to no filter are asked of all filters with keys alike.
func TestEachFilterHasItsTurn(t *testing.T) {
	blocks := make([][]string, 4)
	for i := range blocks {
		for j := range 50 {
			blocks[i] = append(blocks[i], fmt.Sprintf("%05d", 10_000*i+7*j))
		}
	}
	for full := range blocks {
		table := exactTable(blocks...)
		f := table.info.Filters
		f.Reader = filters.LevelDB
		for i := range f.Each {
			f.Each[i] = []byte{0, 0, 0, 0, 0, 0, 0, 0, 6}
		}
		f.Each[full][8] = 0 // matches all
		f.Each = append(f.Each, nil, nil)
		r := analyze(t, table, Options{})
		for _, rate := range []Rate{r.Beyond, r.Random} {
			require.Greater(t, rate.Asked, int64(1000))
			require.EqualValues(t, rate.Asked/4, rate.Passed)
		}
	}
}

// Versions of one key are entries of their own, and no neighbors.
func TestVersions(t *testing.T) {
	table := exactTable([]string{"k1", "k1", "k1", "k2", "k3", "k5", "k5"})
	r := analyze(t, table, Options{})
	require.EqualValues(t, 7, r.Entries)
	require.EqualValues(t, 4, r.Keys)
	require.EqualValues(t, 1, r.Between.Asked) // k4
	require.Equal(t, "2 bytes", r.KeyShape)
}

func TestAbsentOption(t *testing.T) {
	table := wholeTable(t, numbered(seeded(t, 2), "%08d", 500_000, 10_000, 0.1).present, 10)
	r := analyze(t, table, Options{Absent: 1000})
	for _, rate := range []Rate{r.Between, r.Beyond, r.Random} {
		require.EqualValues(t, 1000, rate.Asked)
	}
	for _, absent := range []int{-1, 1<<20 + 1} {
		r, err := Analyze(context.Background(), table, Options{Absent: absent})
		require.EqualError(t, err, fmt.Sprintf("%d absent keys: pass 1 to 2^20, or 0 for 65536", absent))
		require.Nil(t, r)
	}
}

func TestSeed(t *testing.T) {
	table := windowTable(t, numbered(seeded(t, 3), "%016d", 0, 20_000, 0.2).present, 10, 4096, 11)
	first := analyze(t, table, Options{Seed: 1})
	require.Equal(t, first, analyze(t, table, Options{Seed: 1}))
	require.NotEqual(t, first.Between, analyze(t, table, Options{Seed: 2}).Between)
}

func TestErrors(t *testing.T) {
	failure := errors.New("unreadable")
	table := windowTable(t, numbered(seeded(t, 4), "%016d", 0, 20_000, 0.63).present, 10, 4096, 11)
	table.err = failure
	r, err := Analyze(context.Background(), table, Options{})
	require.Equal(t, failure, err)
	require.Nil(t, r)
}

// The context ends each part of the work: the passes over the entries, and the questions.
func TestContext(t *testing.T) {
	table := windowTable(t, numbered(seeded(t, 5), "%016d", 0, 20_000, 0.63).present, 10, 4096, 11)
	for _, at := range []int{1, 5, 25, 60, 120} { // how often Err was called before it ends
		ctx := &endingContext{Context: context.Background(), calls: at}
		r, err := Analyze(ctx, table, Options{})
		require.ErrorIs(t, err, context.Canceled, "after %d calls", at)
		require.Nil(t, r)
		require.Equal(t, 0, ctx.calls, "it ends at once")
	}
	_, err := Analyze(&endingContext{Context: context.Background(), calls: 1000}, table, Options{})
	require.NoError(t, err)
}

// An endingContext ends after some calls of Err.
type endingContext struct {
	context.Context
	calls int
}

func (c *endingContext) Err() error {
	if c.calls--; c.calls > 0 {
		return nil
	}
	return context.Canceled
}

// A manyTable makes its keys as they are read, and notes the largest heap on the way.
type manyTable struct {
	fakeTable
	n    int
	peak uint64
}

func (t *manyTable) Keys(f func(filter int, key []byte) error) error {
	key := make([]byte, 0, 16)
	for i := range t.n {
		key = fmt.Appendf(key[:0], "%016d", 2*i)
		if err := f(0, key); err != nil {
			return err
		}
		if i%100_000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.peak = max(t.peak, m.HeapInuse)
		}
	}
	return nil
}

func (t *manyTable) Locate([]byte) int { return 0 }

// Ten times the keys take no more memory.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	peak := func(n int) uint64 {
		filter := bytes.Repeat([]byte{0xff}, 1000)
		filter[999] = 6
		runtime.GC()
		table := &manyTable{n: n, fakeTable: fakeTable{info: tables.Info{Filters: wholeTable(t, nil, 10).info.Filters}}}
		table.info.Filters.Each[0] = filter
		r := analyze(t, table, Options{})
		require.EqualValues(t, n, r.Entries)
		require.Zero(t, r.FalseNegatives)
		return table.peak
	}
	small, large := peak(300_000), peak(3_000_000)
	require.Less(t, float64(large), float64(small)+32e6)
}

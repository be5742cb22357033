package filterbench

import (
	"bytes"
	"context"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/clock"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

func kinds(t *testing.T, names ...string) (all []Kind) {
	for _, name := range names {
		k, err := FromString(name, 10)
		require.NoError(t, err)
		all = append(all, k)
	}
	return all
}

func config(kinds []Kind, rounds int, n int, works ...string) *Config {
	return &Config{Kinds: kinds, Works: works, Ns: []int{n}, Rounds: rounds,
		Progress: func(int, int, string) {}}
}

// with returns a kind as FromString does, with its filter changed.
func with(t *testing.T, name string, change func(*Filter)) Kind {
	k := kinds(t, "bloom")[0]
	newFilter := k.New
	k.Name = name
	k.New = func() *Filter {
		f := newFilter()
		change(f)
		return f
	}
	return k
}

// What is timed is what was asked for: every key, and once more before. A large filter is not built
// before.
func TestWorkIsDone(t *testing.T) {
	asked, added := 0, 0
	k := with(t, "", func(f *Filter) {
		count, build := f.Count, f.Build
		f.Count = func(filter []byte, keys [][]byte) int {
			asked += len(keys)
			for began := clock.Now(); clock.Now()-began < time.Millisecond; {
			}
			return count(filter, keys)
		}
		f.Build = func(keys [][]byte) []byte {
			added += len(keys)
			return build(keys)
		}
	})
	c := &contestant{"", k.New()}
	in := newInputs(Cell{Hit, 10_000}, rand.New(rand.NewSource(1)))
	runtime.LockOSThread() // as Run does
	defer runtime.UnlockOSThread()
	take := c.start(in)
	require.Equal(t, 10_000, added)
	ns, err := take()
	require.NoError(t, err)
	require.GreaterOrEqual(t, ns*numQueries, 1e6, "all of the work is in the time")
	require.Equal(t, 2*numQueries, asked)

	for n, rounds := range map[int]int{10_000: 2, large: 1} {
		in := newInputs(Cell{Build, n}, rand.New(rand.NewSource(1)))
		take := c.start(in)
		added = 0
		_, err := take()
		require.NoError(t, err)
		require.Equal(t, rounds*len(in.present), added)
	}
}

// A lost key ends the run.
func TestLostKeys(t *testing.T) {
	losing := with(t, "losing", func(f *Filter) {
		count := f.Count
		f.Count = func(filter []byte, keys [][]byte) int { return count(filter, keys) - 656 }
	})
	both := []Kind{kinds(t, "goleveldb")[0], losing}
	_, err := config(both, 1, 100, Hit).Run(context.Background())
	require.ErrorIs(t, err, keys.ErrLost)
	require.ErrorContains(t, err, "hit, 100 keys: losing: a key is lost: 656 of 65536")
	_, err = config(both, 1, 100, Miss).Run(context.Background())
	require.NoError(t, err)
}

// Every contestant has one turn in each round and the first one two, in an order that changes.
func TestTurns(t *testing.T) {
	var asked []string
	noting := func(name string) Kind {
		return with(t, name, func(f *Filter) {
			count := f.Count
			f.Count = func(filter []byte, keys [][]byte) int {
				asked = append(asked, name)
				return count(filter, keys)
			}
		})
	}
	c := config([]Kind{noting("a"), noting("b")}, 8, 32, Miss)
	records, err := c.Run(context.Background())
	require.NoError(t, err)
	var names []string
	for _, r := range records {
		names = append(names, r.Contestant)
		require.Equal(t, "a", r.Base)
		require.Len(t, r.Times, 8)
	}
	require.Equal(t, []string{"a", "a-again", "b"}, names)
	orders := map[string]bool{}
	for round := range slices.Chunk(asked, 6) { // each turn asks twice
		require.ElementsMatch(t, []string{"a", "a", "a", "a", "b", "b"}, round)
		orders[strings.Join(round, "")] = true
	}
	require.Greater(t, len(orders), 1)

	c.Rounds = 11
	require.Equal(t, 11, c.rounds(Cell{Hit, 1_000_000}))
	require.Equal(t, 2, c.rounds(Cell{Build, 1_000_000}))
}

// Queries are what their work says, in random order, from all over the filter.
func TestQueries(t *testing.T) {
	for _, n := range []int{32, 100_000} {
		for _, work := range []string{Hit, Miss} {
			cell := Cell{work, n}
			in := newInputs(cell, rand.New(rand.NewSource(1)))
			stored := map[string]bool{}
			for _, key := range in.present[:n] {
				stored[string(key)] = true
			}
			require.Len(t, stored, n, "all keys are different")
			require.Len(t, in.queries, numQueries)
			times := map[string]int{}
			for _, key := range in.queries {
				if len(key) != keyLength || stored[string(key)] != (work == Hit) {
					t.Fatalf("%v: key %x", cell, key)
				}
				times[string(key)]++
			}
			if work == Miss {
				require.Len(t, times, numQueries, "absent keys are all different")
			} else {
				require.Len(t, times, min(numQueries, n))
				for _, asked := range times {
					require.InDelta(t, numQueries/len(times), asked, 1)
				}
			}
			require.False(t, slices.IsSortedFunc(in.queries, bytes.Compare))
		}
	}
}

// records returns those of "ours", "ours-again" and "theirs". In each of six parts of the
// rounds the fastest turns take 5, 5 and 2 ns, but for one part of theirs.
func records(rounds int) (all []Record) {
	for i, fastest := range []float64{5, 5, 2} {
		var r Record
		for round := range rounds {
			ns := fastest + float64(10*(round/6)) // the second half of the rounds is slow
			if i == 2 && round%6 == 3 {
				ns--
			}
			r.Times = append(r.Times, ns)
		}
		all = append(all, r)
	}
	for i := range all {
		all[i].compare(all[0].Times)
	}
	return all
}

// What is compared is the median of six parts of the rounds, of each its fastest turn.
func TestCompare(t *testing.T) {
	theirs := records(12)[2]
	require.Equal(t, []float64{2, 2.5, 2.5, 5}, []float64{theirs.Ns, theirs.Ratio, theirs.Low,
		theirs.High})
	few := records(2)[2] // two rounds have extremes instead of an interval
	require.Equal(t, []float64{2.5, 2.5, 2.5}, []float64{few.Ratio, few.Low, few.High})
}

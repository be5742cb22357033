package filterbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	pebblev2 "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"golang.org/x/perf/benchfmt"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

func bloom(t *testing.T) *policy.Bloom {
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	return p
}

func config(contestants []Contestant, rounds int, n int, works ...Work) *Config {
	return &Config{Contestants: contestants, Works: works, Ns: []int{n}, Rounds: rounds, Seed: 3,
		Progress: func(int, int, string) {}}
}

// All real contestants work in all kinds of work, and those of LevelDB's encoding have the same
// matches and build the same bytes, or there would be an error.
func TestRun(t *testing.T) {
	c := config([]Contestant{
		FromPolicy("levelbloom", LevelDBBloom, bloom(t)),
		FromGoLevelDB("goleveldb", filter.NewBloomFilter(10)),
		FromPebble("pebblev2", pebblev2.FilterPolicy(10)),
	}, 2, 32, Works...)
	c.Ns = []int{32, 1000}
	require.NoError(t, c.Validate())
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 2*3*2*4)
	for _, r := range results {
		ns, ok := r.Value("sec/op")
		require.True(t, ok && ns > 0, "%s", r.Name)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	_, err = c.Run(ctx)
	require.ErrorIs(t, err, cause)
}

// tally is a policy that counts what it is asked. The first key of a pass may take a while.
type tally struct {
	policy.Policy
	asked, added int
	slow         *byte
}

func (c *tally) MayContain(filter, key []byte) bool {
	c.asked++
	if &key[0] == c.slow {
		time.Sleep(time.Millisecond)
	}
	return c.Policy.MayContain(filter, key)
}

func (c *tally) NewBuilder() policy.Builder { return &tallyBuilder{c.Policy.NewBuilder(), c} }

type tallyBuilder struct {
	policy.Builder
	tally *tally
}

func (b *tallyBuilder) Add(key []byte) { b.tally.added++; b.Builder.Add(key) }

// What is timed is what was asked for: every key, and once more before. A large filter is not built
// before.
func TestWorkIsDone(t *testing.T) {
	c := &tally{Policy: bloom(t)}
	contestant := FromPolicy("", LevelDBBloom, c)
	in := newInputs(Cell{Hit, 10_000}, newMaterial(10_000), rand.New(rand.NewSource(1)))
	take := contestant.start(in)
	require.Equal(t, 10_000, c.added)
	c.slow = &in.queries[0][0]
	turn := take()
	require.Equal(t, numQueries, turn.keys)
	require.EqualValues(t, numQueries, turn.check)
	require.GreaterOrEqual(t, turn.ns*numQueries, 1e6, "the slow key is in the time")
	require.Equal(t, 2*numQueries, c.asked)

	for n, rounds := range map[int]int{10_000: 2, large: 1} {
		in := newInputs(Cell{Build, n}, newMaterial(n), nil)
		take := contestant.start(in)
		c.added = 0
		take()
		require.Equal(t, rounds*len(in.present), c.added)
	}
}

// wrong is a policy with a fault.
type wrong struct {
	policy.Policy
	fault func(key []byte, may bool) bool
	bytes func(filter []byte) []byte
}

func (w wrong) MayContain(filter, key []byte) bool {
	return w.fault(key, w.Policy.MayContain(filter, key))
}
func (w wrong) NewBuilder() policy.Builder { return wrongBuilder{w.Policy.NewBuilder(), w.bytes} }

type wrongBuilder struct {
	policy.Builder
	bytes func(filter []byte) []byte
}

func (b wrongBuilder) Finish(dst []byte) []byte { return b.bytes(b.Builder.Finish(dst)) }

func TestWrongContestants(t *testing.T) {
	p := bloom(t)
	sound := FromPolicy("sound", LevelDBBloom, p)
	answers := func(_ []byte, may bool) bool { return may }
	filters := func(f []byte) []byte { return f }
	present := keys.AppendRandom(nil, keyLength, 7)
	absent := keys.AppendRandom(nil, keyLength, firstAbsent+1)
	for _, c := range []struct {
		name    string
		policy  wrong
		cell    Cell
		message string
	}{
		{"none", wrong{p, answers, filters}, Cell{Hit, 100}, ""},
		{"lost key", wrong{p, func(key []byte, may bool) bool {
			return may && !bytes.Equal(key, present)
		}, filters}, Cell{Hit, 100}, "it lost 656 of 65536 keys"},
		{"another answer", wrong{p, func(key []byte, may bool) bool {
			return may != bytes.Equal(key, absent)
		}, filters}, Cell{Miss, 10_000}, "where there were"},
		{"other bytes", wrong{p, answers, func(f []byte) []byte { f[3] ^= 8; return f }},
			Cell{Build, 32}, "not those of another contestant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faulty := FromPolicy("faulty", LevelDBBloom, c.policy)
			_, err := config([]Contestant{sound, faulty}, 1, c.cell.N,
				c.cell.Work).Run(context.Background())
			if c.message == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrWrong)
			require.ErrorContains(t, err, c.message)
			require.ErrorContains(t, err, "faulty")
		})
	}
}

// clocked takes a time that is known.
type clocked struct {
	Contestant
	ns    float64
	turns *[]string
}

func (c *clocked) start(*inputs) func() turn {
	return func() turn {
		*c.turns = append(*c.turns, c.Name())
		c.ns++ // the next turn takes longer
		return turn{numQueries, c.ns - 1, numQueries}
	}
}

// Every contestant has one turn in each round and the first one two. The order changes, but for
// that of the first round.
func TestTurns(t *testing.T) {
	var turns []string
	a := &clocked{FromPolicy("a", LevelDBBloom, bloom(t)), 10, &turns}
	b := &clocked{FromPolicy("b", LevelDBBloom, bloom(t)), 20, &turns}
	c := config([]Contestant{a, b}, 8, 32, Miss)
	require.Equal(t, []string{"a", "a-again", "b"}, c.Names())
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 3*8)
	orders := map[string]bool{}
	for round := range 8 {
		order := turns[3*round : 3*round+3]
		require.ElementsMatch(t, []string{"a", "a", "b"}, order)
		orders[strings.Join(order, "")] = true
	}
	require.Equal(t, []string{"a", "a", "b"}, turns[:3])
	require.Greater(t, len(orders), 1)

	c.Rounds = 11
	require.Equal(t, 11, c.rounds(Cell{Hit, 1_000_000}))
	require.Equal(t, 2, c.rounds(Cell{Build, 1_000_000}))
}

// Queries are what their work says, in random order, from all over the filter.
func TestQueries(t *testing.T) {
	for _, n := range []int{32, 100_000} {
		for _, work := range []Work{Hit, Miss} {
			cell := Cell{work, n}
			m := newMaterial(n)
			in := newInputs(cell, m, rand.New(rand.NewSource(1)))
			stored := map[string]bool{}
			for _, key := range m.present[:n] {
				stored[string(key)] = true
			}
			require.Len(t, stored, n, "all keys are different")
			require.Len(t, in.queries, numQueries)
			times := map[string]int{}
			for _, key := range in.queries {
				require.Len(t, key, keyLength)
				if stored[string(key)] != (work == Hit) {
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

func TestValidate(t *testing.T) {
	for want, c := range map[string]*Config{
		"":                               config(nil, 1, 1, Hit),
		"--rounds 0: pass 1 or more":     config(nil, 0, 1, Hit),
		"--n 20000000: pass 10M or less": config(nil, 1, 20_000_000, Hit),
	} {
		require.Equal(t, want, strings.TrimPrefix(fmt.Sprint(c.Validate()), "<nil>"))
	}
	require.Equal(t, "build, 10k keys", Cell{Build, 10_000}.String())
}

// results returns turns of "ours", "ours-again" and "theirs" in a cell. In each of six parts of the
// rounds the fastest ones take 5, 5 and 2 ns, but for one part of theirs.
func results(cell Cell, again float64) (all Results) {
	for round := range 12 {
		slow := float64(10 * (round / 6)) // the second half of the rounds
		theirs := 2.0
		if round%6 == 3 {
			theirs = 1
		}
		for i, ns := range []float64{5, again, theirs} {
			name := []string{"ours", "ours-again", "theirs"}[i]
			all = append(all, cell.result(name, turn{keys: 7, ns: ns + slow}))
		}
	}
	return all
}

// What is compared is the median of six parts of the rounds, of each its fastest turn.
func TestReport(t *testing.T) {
	p := bloom(t)
	c := config([]Contestant{
		FromPolicy("ours", LevelDBBloom, p), FromPolicy("theirs", LevelDBBloom, p),
	}, 12, 0)
	all := append(results(Cell{Miss, 10_000}, 5), results(Cell{Build, 32}, 5.2)...)
	r := &report.Report{Environment: report.Environment{OS: "linux"}}
	c.Report(r, all)
	require.Len(t, r.Tables, 1)
	require.Equal(t, []string{"work", "keys per filter", "ours, ns", "ours-again", "theirs"},
		r.Tables[0].Columns)
	require.Equal(t, []any{"miss", 10_000, report.Number{Value: 5, Decimals: 1},
		"1.00 ±0%", "2.50 ±100%"}, r.Tables[0].Rows[0])
	records := r.Records.([]Record)
	require.Len(t, records, 6)
	require.Equal(t, Record{"miss", 10_000, "theirs", "ours", 12, 2, 2.5, 2.5, 5},
		records[2])
	require.Equal(t, "build", records[5].Work)
	notes := strings.Join(r.Notes, "\n")
	require.Equal(t, 1, strings.Count(notes, "WARNING"))
	require.Contains(t, notes, "build, 32 keys: 4 %.")

	var file bytes.Buffer // is what Go's tools read, with the same figures
	require.NoError(t, r.WriteBench(&file))
	require.Contains(t, file.String(), "goos: linux\n")
	require.Contains(t, file.String(),
		"BenchmarkMiss/filter=theirs/n=10000 7 2 ns/op\n")
	var read Results
	for reader := benchfmt.NewReader(&file, ""); reader.Scan(); {
		read = append(read, reader.Result().(*benchfmt.Result).Clone())
	}
	require.Len(t, read, len(all))
	for i, again := range read.Records() {
		require.InDelta(t, records[i].Ratio, again.Ratio, 1e-9)
	}

	few := Results(all[:6]).Records() // two rounds have extremes instead of an interval
	require.Equal(t, []float64{2.5, 2.5, 2.5}, []float64{few[2].Ratio, few[2].Low, few[2].High})
}

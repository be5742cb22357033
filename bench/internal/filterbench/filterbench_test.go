package filterbench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	pebblev2 "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

func noProgress(int, int, string) {}

func bloom(t *testing.T) *policy.Bloom {
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	return p
}

func everyone(t *testing.T) []Contestant {
	p := bloom(t)
	return []Contestant{
		FromPolicy("levelbloom", LevelDBBloom, p),
		FromGoLevelDB("goleveldb", LevelDBBloom, filter.NewBloomFilter(10)),
		FromPebble("pebblev2", "Pebble Bloom", pebblev2.FilterPolicy(10)),
	}
}

// All real contestants work in all kinds of work, and make and read the same filters.
func TestRun(t *testing.T) { testRun(t, everyone(t)) }

func TestRunWithCPP(t *testing.T) {
	cpp, err := StartCPP("cpp", buildCPP(t), 10)
	require.NoError(t, err)
	defer cpp.Close()
	testRun(t, append(everyone(t), cpp))
}

func testRun(t *testing.T, contestants []Contestant) {
	c := Config{Contestants: contestants, Rounds: 2, Seed: 1, ManyBytes: 4 << 20,
		Progress: noProgress}
	c.Cells = append(Cells([]Work{Lookup, Batch, Build}, []int{32, 1000}, []int{16}, Mixes),
		Cell{Many, 10_000, 16, Hit})
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 2*2*2+2+1)
	for _, r := range results {
		require.Len(t, r.Times, len(contestants)+1)
		for name, times := range r.Times {
			require.Len(t, times, 2, name)
			for _, ns := range times {
				require.Positive(t, ns, "%v: %s", r.Cell, name)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	_, err = c.Run(ctx)
	require.ErrorIs(t, err, cause)
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

// tally is a policy that counts what it is asked, and which filters.
type tally struct {
	policy.Policy
	asked, added, finished int
	filters                map[*byte]int
}

func (c *tally) MayContain(filter, key []byte) bool {
	c.asked++
	c.filters[&filter[0]]++
	return c.Policy.MayContain(filter, key)
}

func (c *tally) NewBuilder() policy.Builder { return &tallyBuilder{c.Policy.NewBuilder(), c} }

type tallyBuilder struct {
	policy.Builder
	tally *tally
}

func (b *tallyBuilder) Add(key []byte) { b.tally.added++; b.Builder.Add(key) }

func (b *tallyBuilder) Finish(dst []byte) []byte {
	b.tally.finished++
	return b.Builder.Finish(dst)
}

// What is timed is what was asked for: every pass, and once more before. Of many filters other ones
// are asked in every pass.
func TestWorkIsDone(t *testing.T) {
	c := &tally{Policy: bloom(t), filters: map[*byte]int{}}
	contestant := FromPolicy("", LevelDBBloom, c)
	m := newMaterial(materialOf{64, 10_000, 16})
	filters, err := m.filtersOf(contestant)
	require.NoError(t, err)
	require.Equal(t, []int{640_000, 64}, []int{c.added, c.finished})

	q := newQueries(Cell{Many, 10_000, 16, Hit}, m.materialOf, rand.New(rand.NewSource(1)))
	q = q.in(filters, 64<<20)
	require.NoError(t, contestant.SetQueries(q))
	_, matches, err := contestant.Lookup(0)
	require.NoError(t, err)
	require.Equal(t, 2*numQueries, c.asked)
	for pass := range 2 {
		for _, f := range q.filtersAsked(pass) {
			c.filters[&f[0]]--
		}
	}
	for _, left := range c.filters {
		require.Zero(t, left, "the filters of passes 0 and 1 are asked, and no others")
	}
	answers, err := contestant.Answers()
	require.NoError(t, err)
	require.Equal(t, countTrue(answers), matches)
	timed, warm := q.filtersAsked(0), q.filtersAsked(1) // the untimed pass is another one
	same := 0
	for i := range warm {
		if &warm[i][0] == &timed[i][0] {
			same++
		}
	}
	require.Less(t, same, numQueries/50)
	c.filters = map[*byte]int{}
	contestant.(*inProcess).ask(7)
	require.Greater(t, len(c.filters), 64*q.Copies/2, "copies are asked")

	// A large filter is not built before.
	for each, rounds := range map[int]int{10_000: 2, large: 1} {
		c.added = 0
		require.NoError(t, contestant.SetKeys(m.keys))
		_, err := contestant.Build(each)
		require.NoError(t, err)
		require.Equal(t, rounds*len(m.keys), c.added)
	}
}

// slow is a policy that takes a millisecond for the first of its filters.
type slow struct {
	policy.Policy
	first *byte
}

func (s *slow) MayContain(filter, key []byte) bool {
	if &key[0] == s.first {
		time.Sleep(time.Millisecond)
	}
	return s.Policy.MayContain(filter, key)
}

// The time is that of the whole pass, whose first key takes a millisecond.
func TestTimeOfAPass(t *testing.T) {
	s := &slow{Policy: bloom(t)}
	contestant := FromPolicy("", LevelDBBloom, s)
	m := newMaterial(materialOf{1, 32, 16})
	filters, err := m.filtersOf(contestant)
	require.NoError(t, err)
	q := newQueries(Cell{Lookup, 32, 16, Miss}, m.materialOf, rand.New(rand.NewSource(1)))
	q = q.in(filters, 0)
	s.first = &q.Keys[0][0]
	require.NoError(t, contestant.SetQueries(q))
	d, _, err := contestant.Lookup(0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, d, time.Millisecond)
}

func TestWrongContestants(t *testing.T) {
	p := bloom(t)
	sound := FromPolicy("sound", LevelDBBloom, p)
	answers := func(_ []byte, may bool) bool { return may }
	filters := func(f []byte) []byte { return f }
	present := keys.AppendRandom(nil, 16, 7)
	absent := keys.AppendRandom(nil, 16, firstAbsent+1)
	calls := 0
	later := func(call int) func([]byte, bool) bool {
		return func(_ []byte, may bool) bool { calls++; return may || calls == call }
	}
	for _, c := range []struct {
		name    string
		policy  wrong
		cell    Cell
		message string
	}{
		{"none", wrong{p, answers, filters}, Cell{Lookup, 100, 16, Hit}, ""},
		{"lost key", wrong{p, func(key []byte, may bool) bool {
			return may && !bytes.Equal(key, present)
		}, filters}, Cell{Lookup, 100, 16, Hit}, "lost the key"},
		{"another answer", wrong{p, func(key []byte, may bool) bool {
			return may || bytes.Equal(key, absent)
		}, filters}, Cell{Many, 10_000, 16, Miss}, "another contestant says"},
		{"another answer later", wrong{p, later(numQueries + 5), filters},
			Cell{Lookup, 100, 16, Miss}, ""},
		{"another answer while timed", wrong{p, later(2*numQueries + 5), filters},
			Cell{Lookup, 100, 16, Miss}, "while timed"},
		{"other bytes", wrong{p, answers, func(f []byte) []byte { f[3] ^= 8; return f }},
			Cell{Build, 32, 16, ""}, "not those of another contestant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls = 0
			faulty := FromPolicy("faulty", LevelDBBloom, c.policy)
			config := Config{Contestants: []Contestant{sound, faulty}, Cells: []Cell{c.cell},
				Rounds: 1, Progress: noProgress}
			_, err := config.Run(context.Background())
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
	ns    time.Duration
	turns *[]string
}

func (c *clocked) Lookup(pass int) (time.Duration, int, error) {
	_, matches, err := c.Contestant.Lookup(pass)
	*c.turns = append(*c.turns, c.Name())
	c.ns += 1 // the next turn takes longer
	return (c.ns - 1) * numQueries, matches, err
}

func (c *clocked) Build(int) (time.Duration, error) {
	return 7 * 70_000, nil // 7 ns for each of the 70,000 keys of 7 filters
}

// Every contestant has one turn in each round and the first one two, in an order that changes;
// times are per key.
func TestTurns(t *testing.T) {
	var turns []string
	p := bloom(t)
	a := &clocked{FromPolicy("a", LevelDBBloom, p), 10, &turns}
	b := &clocked{FromPolicy("b", LevelDBBloom, p), 20, &turns}
	c := Config{Contestants: []Contestant{a, b}, Rounds: 8, Seed: 3, Progress: noProgress,
		Cells: []Cell{{Lookup, 32, 8, Miss}, {Build, 10_000, 8, ""}}}
	require.Equal(t, []string{"a", "a again", "b"}, c.Names())
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, []float64{20, 21, 22, 23, 24, 25, 26, 27}, results[0].Times["b"])
	require.ElementsMatch(t,
		[]float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
		append(results[0].Times["a"], results[0].Times["a again"]...))
	require.Equal(t, 7.0, results[1].Times["a"][0])
	orders := map[string]bool{}
	for round := range 8 {
		order := turns[3*round : 3*round+3]
		require.ElementsMatch(t, []string{"a", "a", "b"}, order)
		orders[strings.Join(order, "")] = true
	}
	require.Greater(t, len(orders), 1)
}

func TestQueries(t *testing.T) {
	p := bloom(t)
	cells := Cells([]Work{Lookup}, []int{32, 100_000}, []int{8, 64}, Mixes)
	for _, cell := range append(cells, Cell{Many, 10_000, 16, Hit}) {
		t.Run(cell.String(), func(t *testing.T) {
			of := cell.material()
			m := newMaterial(of)
			filters, err := m.filtersOf(FromPolicy("", LevelDBBloom, p))
			require.NoError(t, err)
			require.Len(t, filters, of.filters)
			manyBytes := 0
			if cell.Work == Many {
				manyBytes = 16 << 20
			}
			q := newQueries(cell, of, rand.New(rand.NewSource(1))).in(filters, manyBytes)

			filterOf := map[string]int{}
			for i, key := range m.keys {
				filterOf[string(key)] = i / cell.N
			}
			require.Len(t, filterOf, len(m.keys), "all keys are different")
			present := map[string]int{}
			absent := map[string]bool{}
			lengths := map[int]bool{}
			asked := q.filtersAsked(5)
			for i, key := range q.Keys {
				lengths[len(key)] = true
				f, there := filterOf[string(key)]
				if q.Hits != there || there && f != int(q.Index[i]) ||
					!bytes.Equal(filters[q.Index[i]], asked[i]) {
					t.Fatalf("query %d: key %x, present %v, filter "+
						"%d", i, key, q.Hits, q.Index[i])
				}
				if there {
					present[string(key)]++
				} else {
					absent[string(key)] = true
				}
			}
			require.False(t, slices.IsSortedFunc(q.Index, cmp.Compare[uint32]) && cell.Work == Many,
				"in random order")
			if cell.N > numQueries && cell.Mix == Hit {
				require.NotEqual(t, m.keys[0], q.Keys[0], "in random order")
				require.Contains(t, present, string(m.keys[(numQueries-1)*cell.N/numQueries]),
					"from all over")
			}
			want := map[Mix][2]int{Hit: {numQueries, 0}, Miss: {0, numQueries}}[cell.Mix]
			require.Len(t, absent, want[1], "absent keys are all different")
			require.Len(t, present, min(want[0], len(m.keys)))
			least, most := numQueries, 0
			for _, n := range present {
				least, most = min(least, n), max(most, n)
			}
			require.True(t, want[0] == 0 || most <= least+1, "present keys come as often as each "+
				"other: %d to %d times", least, most)
			require.Equal(t, map[int]bool{cell.Length: true}, lengths)
			if cell.Work != Many {
				require.Equal(t, 1, q.Copies)
				require.Len(t, filters, 1)
				return
			}
			size, memory := 0, map[*byte]bool{}
			for _, f := range q.array {
				size += len(f)
				memory[&f[0]] = true
			}
			require.InDelta(t, manyBytes, size, float64(size/q.Copies))
			require.Len(t, memory, len(q.array), "copies share no memory")
			other := q.filtersAsked(6)
			same := 0
			for i := range asked {
				if &asked[i][0] == &other[i][0] {
					same++
				}
			}
			require.InDelta(t, numQueries/q.Copies, same, 6*256+float64(numQueries/q.Copies)/10,
				"another pass asks other copies")
		})
	}
}

func TestRounds(t *testing.T) {
	c := Config{Rounds: 11}
	require.Equal(t, 11, c.rounds(Cell{Lookup, 1_000_000, 16, Hit}))
	require.Equal(t, 11, c.rounds(Cell{Build, 10_000, 16, ""}))
	require.Equal(t, 2, c.rounds(Cell{Build, 1_000_000, 16, ""}))
}

func TestAtOnce(t *testing.T) {
	for _, work := range []Work{Lookup, Many, Batch} {
		cell, of := Cell{work, 32, 8, Hit}, materialOf{1, 32, 8}
		require.Equal(t, work == Batch, newQueries(cell, of, rand.New(rand.NewSource(1))).AtOnce)
	}
}

func TestPassesAreNotRepeated(t *testing.T) {
	q := &Queries{}
	require.Equal(t, 0, q.nextPasses(4))
	require.Equal(t, 4, q.nextPasses(2))
	require.Equal(t, 6, q.nextPasses(1))
}

func TestNames(t *testing.T) {
	for text, n := range map[string]int{"8": 8, "64": 64} {
		got, err := ParseLength(text)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	for _, text := range []string{"", "0", "7", "1025", "many"} {
		_, err := ParseLength(text)
		require.ErrorContains(t, err, "pass 8 to 1024 bytes")
	}
	require.Equal(t, "build, 10k keys, 16 bytes", Cell{Build, 10_000, 16, ""}.String())
	require.Equal(t, "lookup, 32 keys, 64 bytes, hit", Cell{Lookup, 32, 64, Hit}.String())
}

// A time is the mean of the fastest tenth of turns, rounded up: of 5 and 6, and of 2 and 3.
func TestReport(t *testing.T) {
	p := bloom(t)
	c := Config{Contestants: []Contestant{
		FromPolicy("ours", LevelDBBloom, p), FromPolicy("theirs", LevelDBBloom, p),
	}}
	ours := []float64{9, 5, 12, 6, 11, 20, 20, 20, 20, 20, 20}
	theirs := []float64{8, 2, 11, 3, 9, 20, 20, 20, 20, 20, 20}
	again := []float64{5.7, 8, 20, 5.7, 20}
	results := []Result{
		{Cell{Lookup, 10_000, 16, Miss}, map[string][]float64{
			"ours": ours, "ours again": ours, "theirs": theirs,
		}},
		{Cell{Build, 32, 8, ""}, map[string][]float64{
			"ours": ours, "ours again": append(again, again...)[:10], "theirs": theirs[1:2],
		}},
	}
	r := &report.Report{}
	c.Report(r, results)
	require.Len(t, r.Tables, 2)
	require.Equal(t,
		[]string{"look up", "keys per filter", "key bytes", "ours, ns", "ours again", "theirs"},
		r.Tables[0].Columns)
	two := func(x float64) report.Number { return report.Number{Value: x, Decimals: 2} }
	require.Equal(t,
		[]any{"miss", 10_000, 16, report.Number{Value: 5.5, Decimals: 1}, two(1), two(5.5 / 2.5)},
		r.Tables[0].Rows[0])
	require.Equal(t, two(5.5/2), r.Tables[1].Rows[0][5])
	records := r.Records.([]Record)
	require.Len(t, records, 11*3+11+10+1)
	require.Equal(t, Record{"lookup", "miss", 10_000, 16, "theirs", 2, 2}, records[23])
	var warnings []string
	for _, note := range r.Notes {
		if strings.HasPrefix(note, "WARNING") {
			warnings = append(warnings, note)
		}
	}
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "build, 32 keys, 8 bytes: ours differs from itself by 4 %")
}

package enginetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// The same random operations give the same answers under every filter, and without any.
func testSameAnswers(t *testing.T, newEngine func(testing.TB) Engine) {
	steps := 1200
	if testing.Short() {
		steps = 800
	}
	type settings struct {
		name string
		at   func(opening int) Setting
	}
	always := func(s Setting) func(int) Setting { return func(int) Setting { return s } }
	all := []settings{{"builtin", always(Setting{Builtin: true})}}
	inTurn := []Setting{{Builtin: true}}
	for _, kind := range Kinds {
		s := Setting{Policies: []policy.Policy{kind.MustNew(10, policy.NameGoLevelDB)}}
		all = append(all, settings{kind.Name, always(s)})
		s.Large = true
		inTurn = append(inTurn, s,
			Setting{Builtin: true, Policies: []policy.Policy{kind.MustNew(3.5, policy.Name)}})
	}
	all = append(all, settings{"in turn", func(opening int) Setting {
		s := inTurn[opening%len(inTurn)]
		for _, other := range inTurn[1:] { // the program keeps its options
			s.Policies = append(other.Policies[:1:1], s.Policies...)
		}
		return s
	}})
	eachVariant(t, newEngine, func(t *testing.T, e Engine, variant int) {
		at := func(s Setting) Setting { s.Variant = variant; return s }
		want, _ := operate(t, e, int64(variant), steps, func(int) Setting { return at(Setting{}) })
		for _, c := range all {
			t.Run(c.name, func(t *testing.T) {
				got, asked := operate(t, newEngine(t), int64(variant), steps,
					func(opening int) Setting { return at(c.at(opening)) })
				for i := range want {
					require.Equal(t, want[i], got[i], "answer %d", i)
				}
				require.Len(t, got, len(want))
				require.Greater(t, sum(asked).ReadsAvoided, uint64(steps/50))
				require.Greater(t, sum(asked).MayContain, uint64(steps/50))
				if c.name == "in turn" && !testing.Short() {
					require.GreaterOrEqual(t, len(asked), 1+len(Kinds), "%v", asked)
				}
			})
		}
	})
}

// operate runs random operations, which seed alone decides, and returns all answers, and what the
// filters answered. at returns the setting of each opening.
func operate(
	t *testing.T, e Engine, seed int64, steps int, at func(opening int) Setting,
) (answers []string, asked map[Label]policy.Counters) {
	rng := policytest.Rand(t, seed)
	var db DB
	var watch Watch
	openings := 0
	reopen := func() {
		if db != nil {
			require.NoError(t, db.Close())
		}
		s := at(openings)
		s.Watch = &watch
		db = open(t, e, s)
		openings++
	}
	reopen()
	// Every ten keys share their first 8 bytes. Five of every second ten are written; the others
	// lie between them.
	const keys = 2000
	nth := func(i int) []byte { return fmt.Appendf(nil, "keys%05d", i) }
	nthWritten := func(i int) []byte { return nth(i/5*20 + i%5*2) }
	written := func() []byte { return nthWritten(rng.Intn(keys / 4)) }
	key := func() []byte {
		if rng.Intn(2) == 0 {
			return written()
		}
		return nth(rng.Intn(keys))
	}
	look := func(r Reader, k []byte) {
		value, err := r.Get(k)
		require.NoError(t, err)
		same, err := r.Find(k)
		require.NoError(t, err)
		require.Equal(t, value, same, "Find of key %q", k)
		found, err := r.Seek(k)
		require.NoError(t, err)
		answers = append(answers, fmt.Sprintf("%s: %q, %q", k, value, found))
	}
	scan := func(r Reader, k []byte) {
		found, err := r.Scan(k, append(k, 1))
		require.NoError(t, err)
		answers = append(answers, fmt.Sprintf("from %s: %q", k, found))
	}
	apply := func(n int, value string) {
		changes := map[string]Change{}
		for range n {
			k := written()
			c := Change{Key: k, Value: []byte(value)}
			if rng.Intn(7) == 0 {
				c.Value = nil
			}
			changes[string(k)] = c
		}
		require.NoError(t, db.Apply(rng.Intn(db.Ways()), SortedChanges(changes)))
	}
	for i := range keys / 4 {
		require.NoError(t, db.Apply(0, []Change{{nthWritten(i), []byte{}}}))
	}
	for step := range steps {
		switch n := rng.Intn(1000); {
		case n < 300:
			apply(1, fmt.Sprintf("%d%0*d", step, rng.Intn(60), 0))
		case n < 330:
			apply(1+rng.Intn(20), fmt.Sprintf("%d with others", step))
		case n < 335:
			i := rng.Intn(keys)
			require.NoError(t, db.DeleteRange(nth(i), nth(i+rng.Intn(50))))
		case n < 940:
			look(db, key())
		case n < 960:
			scan(db, key()[:7])
		case n < 975:
			snapshot, err := db.Snapshot()
			require.NoError(t, err)
			require.NoError(t, db.Apply(0, []Change{{Key: written()}}))
			look(snapshot, key())
			scan(snapshot, key()[:7])
			require.NoError(t, snapshot.Close())
		case n < 990:
			require.NoError(t, db.Flush())
		case n < 993:
			require.NoError(t, db.Compact())
		default:
			reopen()
			if openings%2 == 0 { // so that each setting's filters contain most keys at times
				require.NoError(t, db.Compact())
			}
		}
	}
	reopen()
	for range 500 {
		look(db, key())
	}
	require.NoError(t, db.Close())
	return answers, watch.Take()
}

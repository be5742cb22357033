package enginetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A database with the engine's own filters is taken over, left, and taken over again. All the time
// every key is found, through the filters that the reader of the moment knows. The variants take
// turns.
func testTakeOverAndLeave(t *testing.T, newEngine func(testing.TB) Engine) {
	for i, kind := range Kinds {
		for j, name := range names {
			if testing.Short() && name != "mine" {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", kind.Name, name), func(t *testing.T) {
				e := newEngine(t)
				variant := (i*len(names) + j) % len(e.Variants())
				const n = 150
				keys := testkit.Keys(testkit.Rand(t, 2), 5*n)
				sunk, old, recent := keys[:n], keys[n:2*n], keys[2*n:3*n]
				last, absent := keys[3*n:4*n], keys[4*n:]
				ours := []*policy.Policy{kind.MustNew(16, name)}
				label := Label{name, kind.Encoding}
				theirs := Label{e.Builtin(), "unknown"}
				if e.Builtin() == policy.NameGoLevelDB { // which names LevelDB's encoding
					theirs.Encoding = policy.EncodingBloom
				}
				var watch Watch
				// use opens the database with builtin filters or not, looks keys up, and returns
				// the answers.
				use := func(s Setting, write [][]byte, read ...[][]byte) map[Label]policy.Counters {
					s.Variant, s.Still, s.Watch = variant, true, &watch
					db := open(t, e, s)
					put(t, db, write)
					watch.Take()
					requireFound(t, db, read...)
					requireAbsent(t, db, absent)
					require.NoError(t, db.Close())
					return watch.Take()
				}
				checked := func(answers map[Label]policy.Counters, l Label, keys int) {
					t.Helper()
					require.GreaterOrEqual(t, answers[l].MayContain, uint64(keys),
						"%v: %v", l, answers)
					require.Greater(t, answers[l].Absent, uint64(len(absent)),
						"%v: %v", l, answers)
				}

				db := open(t, e, Setting{Variant: variant, Builtin: true, Still: true})
				put(t, db, sunk)
				require.NoError(t, db.Compact())
				put(t, db, old)
				require.NoError(t, db.Close())

				// The old filters are consulted, with the engine's own policy in the options or
				// without.
				for _, builtin := range []bool{true, false} {
					answers := use(Setting{Builtin: builtin, Policies: ours}, nil, sunk, old)
					require.Len(t, answers, 1)
					checked(answers, theirs, 2*n)
				}
				// New tables get our filters, and all are consulted.
				for _, builtin := range []bool{true, false} {
					s := Setting{Builtin: builtin, Policies: ours}
					answers := use(s, recent, sunk, old, recent)
					checked(answers, theirs, 2*n)
					checked(answers, label, n)
				}

				// Leaving: the engine consults its own filters, and ours if it knows their name. It
				// avoids reads by ours if it also knows their encoding.
				answers := use(Setting{Builtin: true}, last, sunk, old, recent, last)
				checked(answers, theirs, 3*n)
				switch {
				case label == theirs:
					checked(answers, theirs, 4*n)
				case name == e.Builtin():
					require.Positive(t, answers[label].MayContain)
					require.Zero(t, answers[label].Absent)
				default:
					require.Len(t, answers, 1)
				}
				answers = use(Setting{}, nil, sunk, old, recent, last)
				require.Empty(t, answers, "without any policy no filter is consulted")

				// Taking over again finds both kinds of filter in use.
				answers = use(Setting{Builtin: true, Policies: ours}, nil, sunk, old, recent, last)
				checked(answers, theirs, 3*n)
				checked(answers, label, n)
			})
		}
	}
}

// Rewrite gives all tables our filters while keys come and go. All are found through these alone,
// absent ones are absent, and a snapshot has what it had. A second call builds no table.
func testRewrite(t *testing.T, newEngine func(testing.TB) Engine) {
	for i, kind := range Kinds {
		for _, builtin := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, builtin %v", kind.Name, builtin), func(t *testing.T) {
				e := newEngine(t)
				// Every second variant has another comparer than the default one, or none has.
				s := Setting{Variant: 2 * i % len(e.Variants()), Builtin: builtin, Watch: new(Watch)}
				keys, absent := fillLevels(t, e, s)
				ours := kind.MustNew(10, "mine")
				s.Still, s.Policies = true, []*policy.Policy{ours}
				db := open(t, e, s)
				snapshot, err := db.Snapshot()
				require.NoError(t, err)
				rewriteInUse(t, db, keys[:100])
				s.Watch.Take()
				requireFound(t, snapshot, keys)
				requireFound(t, db, keys[100:])
				requireAbsent(t, snapshot, absent)
				requireAbsent(t, db, absent)
				answers := s.Watch.Take()
				require.Greater(t, sum(answers).Absent, uint64(len(absent)))
				// A table of a single key may stay. Any other has 100 keys, which are looked up.
				all := Checks(sum(answers))
				delete(answers, Label{"mine", kind.Encoding})
				delete(answers, Label{"mine", policy.EncodingBloom}) // of no keys
				require.Less(t, Checks(sum(answers)), all/200, "%v", answers)
				built := ours.Counters().Keys
				require.NoError(t, db.Rewrite(context.Background()))
				require.Equal(t, built, ours.Counters().Keys)
				require.NoError(t, errors.Join(snapshot.Close(), db.Close()))
			})
		}
	}
}

// rewriteInUse calls Rewrite, and sets, deletes and finds keys meanwhile.
func rewriteInUse(t *testing.T, db DB, keys [][]byte) {
	rng, values := testkit.Rand(t, 3), map[string][]byte{}
	for _, key := range keys {
		values[string(key)] = value(key)
	}
	rewritten := make(chan error, 1)
	go func() { rewritten <- db.Rewrite(context.Background()) }()
	for i := 0; ; i++ {
		set, find := Change{Key: keys[rng.Intn(len(keys))]}, keys[rng.Intn(len(keys))]
		if i < 1000 { // goleveldb's compactions may not end before writes do
			if i%2 == 0 {
				set.Value = value(set.Key)
			}
			values[string(set.Key)] = set.Value
			require.NoError(t, db.Apply(0, []Change{set}))
		}
		got, err := db.Find(find)
		require.NoError(t, err)
		require.Equal(t, values[string(find)], got, "value of key %x", find)
		select {
		case err := <-rewritten:
			require.NoError(t, err)
			return
		default:
		}
	}
}

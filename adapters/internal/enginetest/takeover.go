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
// every key is found, and as long as it is taken over, both kinds of filter avoid reads. The
// variants take turns.
func testTakeOverAndLeave(t *testing.T, newEngine func(testing.TB) Engine) {
	const n = 150
	keys := testkit.Keys(testkit.Rand(t, 2), 7*n)
	absent := keys[6*n:]
	for i, kind := range Kinds {
		for j, name := range names {
			if testing.Short() && name != "mine" {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", kind, name), func(t *testing.T) {
				e, ours := newEngine(t), []*policy.Policy{kind.MustNew(16, name)}
				theirs := Label{e.Builtin(), "unknown"}
				if e.Builtin() == policy.NameGoLevelDB { // which names LevelDB's encoding
					theirs.Kind = "bloom"
				}
				for session, s := range []Setting{
					{Builtin: true}, {Builtin: true, Policies: ours}, {Policies: ours},
					{Builtin: true}, {}, // leaves
					{Policies: ours},
				} {
					s.Variant, s.Still, s.Watch = (i*len(names)+j)%len(e.Variants()), true, new(Watch)
					db := open(t, e, s)
					put(t, db, keys[n*session:][:n])
					if session == 0 {
						require.NoError(t, db.Compact())
					}
					requireFound(t, db, keys[:n*(session+1)])
					requireAbsent(t, db, absent)
					require.NoError(t, db.Close())
					if answers := s.Watch.Take(); s.Policies != nil {
						require.Greater(t, answers[Label{name, kind}].Absent, uint64(n), session)
						require.Greater(t, answers[theirs].Absent, uint64(n), session)
					}
				}
			})
		}
	}
}

// Rewrite gives all tables our filters while keys come and go. All are found through these alone,
// absent ones are absent, and a snapshot has what it had. A second call builds no table.
func testRewrite(t *testing.T, newEngine func(testing.TB) Engine) {
	for i, kind := range Kinds {
		for _, builtin := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, builtin %v", kind, builtin), func(t *testing.T) {
				e := newEngine(t)
				var variants []int
				for variant, v := range e.Variants() {
					if !v.Stays {
						variants = append(variants, variant)
					}
				}
				s := Setting{Variant: variants[i%len(variants)], Builtin: builtin, Watch: new(Watch)}
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
				require.Greater(t, Sum(answers).Absent, uint64(len(absent)))
				// A table of a single prefix may stay. Any other has 100 keys, which are looked up.
				all := Checks(Sum(answers))
				delete(answers, Label{"mine", kind})
				delete(answers, Label{"mine", "bloom"}) // of no keys
				require.Less(t, Checks(Sum(answers)), all/200, "%v", answers)
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

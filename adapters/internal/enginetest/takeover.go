package enginetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// A database with the engine's own filters is taken over, left, and taken over again. All the time
// every key is found, through the filters that the reader of the moment knows.
func testTakeOverAndLeave(t *testing.T, newEngine func(testing.TB) Engine) {
	for _, kind := range Kinds {
		for _, name := range Some(names) {
			t.Run(fmt.Sprintf("%s, %s", kind.Name, name), func(t *testing.T) {
				e := newEngine(t)
				const n = 150
				keys := Keys(Rand(t, 2), 5*n)
				sunk, old, recent := keys[:n], keys[n:2*n], keys[2*n:3*n]
				last, absent := keys[3*n:4*n], keys[4*n:]
				ours := []policy.Policy{kind.MustNew(16, name)}
				label := Label{name, kind.Encoding}
				theirs := Label{e.Builtin(), policy.EncodingUnknown}
				if e.Builtin() == policy.NameGoLevelDB { // which names LevelDB's encoding
					theirs.Encoding = policy.EncodingBloom
				}
				var watch Watch
				// use opens the database with builtin filters or not, looks keys up, and returns
				// the answers.
				use := func(s Setting, write [][]byte, read ...[][]byte) map[Label]policy.Counters {
					s.Still, s.Watch = true, &watch
					db := open(t, e, s)
					put(t, db, write)
					watch.Take()
					requireFound(t, db, read...)
					requireAbsent(t, db, absent)
					require.NoError(t, db.Close())
					return watch.Take()
				}
				asked := func(answers map[Label]policy.Counters, l Label, keys int) {
					t.Helper()
					require.GreaterOrEqual(t, answers[l].MayContain, uint64(keys),
						"%v: %v", l, answers)
					require.Greater(t, answers[l].ReadsAvoided, uint64(len(absent)),
						"%v: %v", l, answers)
				}

				db := open(t, e, Setting{Builtin: true, Still: true})
				put(t, db, sunk)
				require.NoError(t, db.Compact())
				put(t, db, old)
				require.NoError(t, db.Close())

				// The old filters are consulted, with the engine's own policy in the options or
				// without.
				for _, builtin := range []bool{true, false} {
					answers := use(Setting{Builtin: builtin, Policies: ours}, nil, sunk, old)
					require.Len(t, answers, 1)
					asked(answers, theirs, 2*n)
				}
				// New tables get our filters, and all are consulted.
				for _, builtin := range []bool{true, false} {
					s := Setting{Builtin: builtin, Policies: ours}
					answers := use(s, recent, sunk, old, recent)
					asked(answers, theirs, 2*n)
					asked(answers, label, n)
				}

				// Leaving: the engine consults its own filters, and ours if it knows their name. It
				// avoids reads by ours if it also knows their encoding.
				answers := use(Setting{Builtin: true}, last, sunk, old, recent, last)
				asked(answers, theirs, 3*n)
				switch {
				case label == theirs:
					asked(answers, theirs, 4*n)
				case name == e.Builtin():
					require.Positive(t, answers[label].MayContain)
					require.Zero(t, answers[label].ReadsAvoided)
				default:
					require.Len(t, answers, 1)
				}
				answers = use(Setting{}, nil, sunk, old, recent, last)
				require.Empty(t, answers, "without any policy no filter is consulted")

				// Taking over again finds both kinds of filter in use.
				answers = use(Setting{Builtin: true, Policies: ours}, nil, sunk, old, recent, last)
				asked(answers, theirs, 3*n)
				asked(answers, label, n)
			})
		}
	}
}

// A database goes through all kinds and settings, under one name or several, and through another
// encoding. All the time every key is found, each table's filters are consulted, and avoid reads.
func testKindsBesideOthers(t *testing.T, newEngine func(testing.TB) Engine) {
	for _, oneName := range []bool{true, false} {
		t.Run(fmt.Sprintf("one name %v", oneName), func(t *testing.T) {
			eachVariant(t, newEngine, func(t *testing.T, e Engine, variant int) {
				large := oneName == (variant%2 == 0)
				testSequence(t, e, Setting{Variant: variant, Still: true, Large: large}, oneName)
			})
		})
	}
}

func testSequence(t *testing.T, e Engine, s Setting, oneName bool) {
	const n = 150
	all := Keys(Rand(t, 3), n*(3+3*len(Kinds))+500)
	absent, all := all[:500], all[500:]
	var policies []policy.Policy // all so far; a program keeps its options
	labels := map[Label]int{}    // tables
	var keys [][]byte
	step := func(p policy.Policy, l Label) {
		if p != nil {
			policies = append(policies, p)
		}
		s.Builtin, s.Policies = true, policies
		if p == nil {
			s.Policies = nil // a table by the engine itself
		}
		db := open(t, e, s)
		put(t, db, all[len(keys):len(keys)+n])
		require.NoError(t, db.Close())
		keys = all[:len(keys)+n]
		labels[l]++
	}
	builtin := Label{e.Builtin(), policy.EncodingUnknown}
	if e.Builtin() == policy.NameGoLevelDB {
		builtin.Encoding = policy.EncodingBloom
	}
	step(nil, builtin)
	for _, bitsPerKey := range []float64{10, 5.5, 20} {
		for i, kind := range Kinds {
			name := policy.Name
			if !oneName {
				name = fmt.Sprintf("name %d", i)
			}
			step(kind.MustNew(bitsPerKey, name), Label{name, kind.Encoding})
		}
	}
	step(salted{Kinds[0].MustNew(10, "theirs")}, Label{"theirs", Kinds[0].Encoding})
	step(nil, builtin)

	var watch Watch
	s.Watch, s.Policies = &watch, policies
	for range Kinds { // each of them reads all
		policies = append(policies[1:], policies[0])
		s.Policies = policies
		db := open(t, e, s)
		requireFound(t, db, keys)
		present := watch.Take()
		requireAbsent(t, db, absent)
		missed := watch.Take()
		for l, tables := range labels {
			require.GreaterOrEqual(t, present[l].MayContain, uint64(2*n*tables), "%v", l)
			require.Greater(t, Checks(missed[l]), uint64(len(absent)*tables), "%v", l)
			require.Greater(t, missed[l].ReadsAvoided, Checks(missed[l])*90/100, "%v", l)
		}
		require.Len(t, present, len(labels))
		require.NoError(t, db.Close())
	}

	// Compactions build what the last policy says, and the engine alone then reads what it knows.
	last := policies[len(policies)-1]
	db := open(t, e, s)
	require.NoError(t, db.Compact())
	requireFound(t, db, keys)
	watch.Take()
	requireAbsent(t, db, absent)
	missed := watch.Take()
	require.Len(t, missed, 1)
	for l, c := range missed {
		require.Equal(t, last.Name(), l.Name)
		require.Greater(t, c.ReadsAvoided, Checks(c)*90/100, "%v", l)
	}
	require.NoError(t, db.Close())
	s.Policies, s.Builtin = nil, true
	db = open(t, e, s)
	requireFound(t, db, keys)
	requireAbsent(t, db, absent)
	require.Empty(t, watch.Take())
	require.NoError(t, db.Close())
}

package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Filters of another encoding, under a name of their own, stay in use after a change to ours.
func testOtherEncoding(t *testing.T, newEngine func(testing.TB) Engine) {
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			e := newEngine(t)
			keys := policytest.Keys(policytest.Rand(t, 8), 900)
			old, recent, absent := keys[:300], keys[300:600], keys[600:]
			theirs := salted{Kinds[0].MustNew(10, "theirs")}
			ours := kind.MustNew(10, "ours")
			var watch Watch
			s := Setting{Still: true, Watch: &watch, Policies: []policy.Policy{theirs}}
			db := open(t, e, s)
			put(t, db, old)
			require.NoError(t, db.Close())

			s.Policies = []policy.Policy{theirs, ours}
			db = open(t, e, s)
			put(t, db, recent)
			watch.Take()
			requireFound(t, db, old, recent)
			requireAbsent(t, db, absent)
			answers := watch.Take()
			for _, l := range []Label{{"theirs", Kinds[0].Encoding}, {"ours", kind.Encoding}} {
				require.GreaterOrEqual(t, answers[l].MayContain, uint64(2*300), "%v", answers)
				require.Greater(t, answers[l].ReadsAvoided, uint64(2*280), "%v", answers)
			}
			require.NoError(t, db.Close())

			// Without the former policy its filters are ignored.
			s.Policies = []policy.Policy{ours}
			db = open(t, e, s)
			requireFound(t, db, old, recent)
			for l := range watch.Take() {
				require.Equal(t, "ours", l.Name)
			}
			require.NoError(t, db.Close())
		})
	}
}

// The name that a policy has when it is configured stays the name of its filters.
func testNameThatChanges(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	keys := policytest.Keys(policytest.Rand(t, 9), 300)
	p := &named{Kinds[0].MustNew(10, policy.Name), "a"}
	var watch Watch
	s := Setting{Still: true, Watch: &watch, Policies: []policy.Policy{p}}
	for range 2 {
		p.name = "a"
		db := open(t, e, s)
		p.name = "b"
		put(t, db, keys)
		watch.Take()
		requireFound(t, db, keys)
		answers := watch.Take()
		require.Len(t, answers, 1)
		require.Positive(t, answers[Label{"a", Kinds[0].Encoding}].MayContain, "%v", answers)
		require.NoError(t, db.Close())
	}

	// Under its new name it leaves the former filters to the former policy.
	s.Policies = []policy.Policy{named{p.Policy, "a"}, p}
	db := open(t, e, s)
	requireFound(t, db, keys)
	require.Contains(t, watch.Take(), Label{"a", Kinds[0].Encoding})
	put(t, db, keys)
	requireFound(t, db, keys)
	require.Contains(t, watch.Take(), Label{"b", Kinds[0].Encoding})
	require.NoError(t, db.Close())
}

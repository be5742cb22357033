package enginetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Keys are found through the filters of L0, of a level between, and of the deepest one, all of them
// verified.
func testLevels(t *testing.T, newEngine func(testing.TB) Engine) {
	for i, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			e := newEngine(t)
			all := policytest.Keys(policytest.Rand(t, 7), 3500)
			keys, absent := all[:3000], all[3000:]
			inLevel0 := keys[2700:]
			p := kind.MustNew(10, "mine", policy.WithVerify())
			s := Setting{Variant: i % len(e.Variants()), Policies: []policy.Policy{p}}

			db := open(t, e, s)
			put(t, db, keys[:1800])
			require.NoError(t, db.Compact())
			put(t, db, keys[1800:2300])
			put(t, db, keys[2300:2700])
			require.Eventually(t, func() bool {
				tables, err := db.Tables()
				require.NoError(t, err)
				return nonEmpty(tables[1:]) >= 2
			}, time.Minute, time.Millisecond)
			require.NoError(t, db.Close())

			var watch Watch
			s.Still, s.Watch = true, &watch
			db = open(t, e, s)
			put(t, db, inLevel0)
			tables, err := db.Tables()
			require.NoError(t, err)
			require.Positive(t, tables[0], "%v", tables)
			require.GreaterOrEqual(t, nonEmpty(tables), 3, "%v", tables)
			watch.Take()
			requireFound(t, db, keys)
			requireOnly(t, watch.Take(), kind)
			requireAbsent(t, db, absent)
			missed := sum(watch.Take())
			require.Greater(t, missed.Checks(), uint64(4*len(absent)), "in two levels by each")
			require.Greater(t, missed.ReadsAvoided, missed.Checks()*95/100)
			require.NoError(t, db.Close())

			s.Policies = []policy.Policy{liar{p}}
			db = open(t, e, s)
			byGet, bySeek := lost(t, db, keys)
			require.Equal(t, len(keys), bySeek, "every level has filters")
			require.Greater(t, byGet, len(inLevel0), "a level between is asked too")
			require.NoError(t, db.Close())
		})
	}
}

// nonEmpty returns how many levels have tables.
func nonEmpty(tables []int) (n int) {
	for _, count := range tables {
		n += min(count, 1)
	}
	return n
}

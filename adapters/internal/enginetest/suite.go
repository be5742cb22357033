package enginetest

import (
	"bytes"
	"crypto/sha512"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Run runs the suite. newEngine returns an engine with a new database each time; two calls may run
// concurrently.
func Run(t *testing.T, newEngine func(t testing.TB) Engine) {
	for name, test := range map[string]func(*testing.T, func(testing.TB) Engine){
		"Misuse":            testMisuse,
		"SharedNames":       testSharedNames,
		"Lookups":           testLookups,
		"Levels":            testLevels,
		"OtherEncoding":     testOtherEncoding,
		"NameThatChanges":   testNameThatChanges,
		"TakeOverAndLeave":  testTakeOverAndLeave,
		"KindsBesideOthers": testKindsBesideOthers,
		"SameAnswers":       testSameAnswers,
		"Concurrency":       testConcurrency,
		"Builders":          testBuilders,
		"Reconfigure":       testReconfigure,
	} {
		t.Run(name, func(t *testing.T) { test(t, newEngine) })
	}
}

// eachVariant runs a test for every variant of the engine.
func eachVariant(
	t *testing.T, newEngine func(testing.TB) Engine, test func(t *testing.T, e Engine, variant int),
) {
	variants := newEngine(t).Variants()
	for i := len(variants) - len(Some(variants)); i < len(variants); i++ {
		t.Run(variants[i].Name, func(t *testing.T) { test(t, newEngine(t), i) })
	}
}

// Some returns all, or in short tests the last one alone.
func Some[T any](all []T) []T {
	if testing.Short() {
		return all[len(all)-1:]
	}
	return all
}

// open opens a database, which the test closes. It closes it itself if the test fails.
func open(t testing.TB, e Engine, s Setting) DB {
	t.Helper()
	db, err := e.Open(s)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			defer func() { _ = recover() }() // Pebble panics if the database is closed already
			_ = db.Close()
		}
	})
	return db
}

// value returns what the tests write under key. It does not compress.
func value(key []byte) []byte {
	sum := sha512.Sum512(key)
	return sum[:]
}

// put writes keys, in all ways, and flushes them.
func put(t testing.TB, db DB, keys [][]byte) {
	t.Helper()
	way := 0
	for len(keys) > 0 {
		n := min(len(keys), 200)
		var changes []Change
		for _, key := range slices.SortedFunc(slices.Values(keys[:n]), bytes.Compare) {
			changes = append(changes, Change{key, value(key)})
		}
		require.NoError(t, db.Apply(way%db.Ways(), changes))
		keys, way = keys[n:], way+1
	}
	require.NoError(t, db.Flush())
}

// lost returns how many of keys Get and Seek do not find.
func lost(t testing.TB, r Reader, keys [][]byte) (byGet, bySeek int) {
	t.Helper()
	for _, key := range keys {
		got, err := r.Get(key)
		require.NoError(t, err)
		if got == nil {
			byGet++
		} else {
			require.Equal(t, value(key), got, "value of key %x", key)
		}
		found, err := r.Seek(key)
		require.NoError(t, err)
		if len(found) == 0 || found[0].Key != string(key) {
			bySeek++
		} else {
			require.Equal(t, string(value(key)), found[0].Value, "value of key %x", key)
		}
	}
	return byGet, bySeek
}

// lostByFind returns how many of keys Find does not find.
func lostByFind(t testing.TB, r Reader, keys [][]byte) (lost int) {
	t.Helper()
	for _, key := range keys {
		got, err := r.Find(key)
		require.NoError(t, err)
		if got == nil {
			lost++
		} else {
			require.Equal(t, value(key), got, "value of key %x", key)
		}
	}
	return lost
}

// requireFound requires that all keys are found.
func requireFound(t testing.TB, r Reader, keys ...[][]byte) {
	t.Helper()
	for _, keys := range keys {
		byGet, bySeek := lost(t, r, keys)
		require.Zero(t, lostByFind(t, r, keys), "keys that Find does not find")
		require.Zero(t, byGet, "keys that Get does not find")
		require.Zero(t, bySeek, "keys that Seek does not find")
	}
}

// requireAbsent requires that no key is found.
func requireAbsent(t testing.TB, r Reader, keys [][]byte) {
	t.Helper()
	byGet, bySeek := lost(t, r, keys)
	require.Equal(t, len(keys), lostByFind(t, r, keys))
	require.Equal(t, len(keys), byGet)
	require.Equal(t, len(keys), bySeek)
}

// liar is a policy that answers "absent" always.
type liar struct{ policy.Policy }

func (liar) MayContain(_, _ []byte) bool { return false }

// Every key is found, through filters in the deepest level and in L0. Absent keys avoid reads, the
// counters of the engine and of policy.Counted agree, and a filter that loses keys is noticed.
func testLookups(t *testing.T, newEngine func(testing.TB) Engine) {
	eachVariant(t, newEngine, func(t *testing.T, _ Engine, variant int) {
		for _, kind := range Kinds {
			t.Run(kind.Name, func(t *testing.T) {
				e := newEngine(t)
				all := policytest.Keys(policytest.Rand(t, 1), 1200)
				keys, absent := all[:800], all[800:]
				counted := policy.Count(kind.MustNew(5, "mine"))
				setting := Setting{
					Variant:  variant,
					Still:    true,
					Policies: []policy.Policy{counted},
				}

				db := open(t, e, setting)
				put(t, db, keys[:400])
				require.NoError(t, db.Compact())
				put(t, db, keys[400:600])
				put(t, db, keys[600:])
				require.NoError(t, db.Close())
				built := counted.Snapshot()
				require.GreaterOrEqual(t, built.Keys, uint64(len(keys)))
				require.Positive(t, built.Bytes)

				var watch Watch
				setting.Watch = &watch
				db = open(t, e, setting)
				tables, err := db.Tables()
				require.NoError(t, err)
				require.GreaterOrEqual(t, tables[0], 2, "%v", tables)
				require.Positive(t, sumOf(tables[1:]), "%v", tables)
				requireFound(t, db, keys)
				answers := watch.Take()
				require.Contains(t, answers, Label{"mine", kind.Encoding})
				requireOnly(t, answers, kind)
				present := sum(answers)
				require.Greater(t, present.MayContain, uint64(2*400+400),
					"L0 by both, the rest by Seek")
				require.Positive(t, present.ReadsAvoided,
					"keys of one table are absent in the other")

				requireAbsent(t, db, absent)
				missed := sum(watch.Take())
				require.Greater(t, missed.Checks(), uint64(2*len(absent)))
				require.Greater(t, missed.ReadsAvoided, missed.Checks()*80/100)
				require.Positive(t, missed.MayContain, "5 bits per key cannot avoid all")

				total := sum(map[Label]policy.Counters{{}: missed, {Name: "mine"}: present})
				asked := counted.Snapshot().Sub(built)
				require.Equal(t, total, asked)
				if n, avoided := db.Checks(); n >= 0 {
					require.EqualValues(t, total.Checks(), n)
					require.EqualValues(t, total.ReadsAvoided, avoided)
				}
				require.NoError(t, db.Close())

				setting.Policies = []policy.Policy{liar{counted}}
				db = open(t, e, setting)
				byGet, bySeek := lost(t, db, keys)
				require.GreaterOrEqual(t, byGet, 400, "the keys in L0")
				require.Equal(t, len(keys), bySeek)
				require.NoError(t, db.Close())

				setting.Policies = nil
				watch.Take()
				db = open(t, e, setting)
				requireFound(t, db, keys)
				require.Empty(t, watch.Take(), "without a policy no filter is asked")
				require.NoError(t, db.Close())
			})
		}
	})
}

func sumOf(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

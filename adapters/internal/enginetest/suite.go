package enginetest

import (
	"bytes"
	"crypto/sha512"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// Run runs the suite. newEngine returns an engine with a new database each time; two calls may run
// concurrently.
func Run(t *testing.T, newEngine func(t testing.TB) Engine) {
	for name, test := range map[string]func(*testing.T, func(testing.TB) Engine){
		"Misuse":           testMisuse,
		"SharedNames":      testSharedNames,
		"NameThatChanges":  testNameThatChanges,
		"Lookups":          testLookups,
		"TakeOverAndLeave": testTakeOverAndLeave,
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

// Keys are found through the filters of L0, of a level between, and of the deepest one, all of them
// verified. Absent keys avoid reads, the counters of the engine and of policy.Counted agree, and a
// filter that loses keys is noticed.
func testLookups(t *testing.T, newEngine func(testing.TB) Engine) {
	eachVariant(t, newEngine, func(t *testing.T, _ Engine, variant int) {
		for _, kind := range Kinds {
			t.Run(kind.Name, func(t *testing.T) { lookUp(t, newEngine(t), variant, kind) })
		}
	})
}

func lookUp(t *testing.T, e Engine, variant int, kind Kind) {
	all := Keys(Rand(t, 1), 3500)
	keys, absent := all[:3000], all[3000:]
	inLevel0 := keys[2700:]
	counted := policy.Count(kind.MustNew(8, "mine", policy.WithVerify()))
	require.NoError(t, e.Configure(counted))
	require.Zero(t, counted.Snapshot(), "Configure does nothing that is counted")
	s := Setting{Variant: variant, Policies: []policy.Policy{counted}}
	fillLevels(t, e, s, keys[:2700], inLevel0)
	built := counted.Snapshot()
	require.GreaterOrEqual(t, built.Keys, uint64(len(keys)))
	require.Greater(t, built.Bytes, built.Keys*7/8, "nearly 8 bits per key, and more")

	var watch Watch
	s.Still, s.Watch = true, &watch
	db := open(t, e, s)
	requireFound(t, db, keys)
	answers := watch.Take()
	require.Contains(t, answers, Label{"mine", kind.Encoding})
	requireOnly(t, answers, kind)
	present := sum(answers)
	require.Greater(t, present.MayContain, uint64(2*len(keys)), "by Seek and by Find")
	require.Positive(t, present.ReadsAvoided, "keys of one table are absent in another")

	requireAbsent(t, db, absent)
	missed := sum(watch.Take())
	require.Greater(t, Checks(missed), uint64(4*len(absent)), "in two levels by each")
	require.Greater(t, missed.ReadsAvoided, Checks(missed)*95/100)
	require.Positive(t, missed.MayContain, "8 bits per key cannot avoid all")

	checked := counted.Snapshot()
	checked.ReadsAvoided -= built.ReadsAvoided
	checked.MayContain -= built.MayContain
	require.Equal(t, missed.ReadsAvoided+present.ReadsAvoided, checked.ReadsAvoided)
	require.Equal(t, missed.MayContain+present.MayContain, checked.MayContain)
	if n, avoided := db.Checks(); n >= 0 {
		require.EqualValues(t, Checks(checked), n)
		require.EqualValues(t, checked.ReadsAvoided, avoided)
	}
	require.NoError(t, db.Close())

	s.Policies = []policy.Policy{&Spy{Policy: counted, Lies: true}}
	db = open(t, e, s)
	byGet, bySeek := lost(t, db, keys)
	require.Equal(t, len(keys), bySeek, "every level has filters")
	require.Greater(t, byGet, len(inLevel0), "the filters of a level between are consulted too")
	require.NoError(t, db.Close())
}

// fillLevels creates a database with tables in three levels at least, which do not move any more.
func fillLevels(t *testing.T, e Engine, s Setting, below, inLevel0 [][]byte) {
	n := len(below)
	db := open(t, e, s)
	put(t, db, below[:n*2/3])
	require.NoError(t, db.Compact())
	put(t, db, below[n*2/3:n*17/20])
	put(t, db, below[n*17/20:])
	tables := func() []int {
		tables, err := db.Tables()
		require.NoError(t, err)
		return tables
	}
	require.Eventually(t, func() bool { return nonEmpty(tables()[1:]) >= 2 },
		time.Minute, time.Millisecond)
	require.NoError(t, db.Close())

	s.Still = true
	db = open(t, e, s)
	put(t, db, inLevel0)
	require.Positive(t, tables()[0], "%v", tables())
	require.GreaterOrEqual(t, nonEmpty(tables()), 3, "%v", tables())
	require.NoError(t, db.Close())
}

// nonEmpty returns how many levels have tables.
func nonEmpty(tables []int) (n int) {
	for _, count := range tables {
		n += min(count, 1)
	}
	return n
}

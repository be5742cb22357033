package enginetest

import (
	"bytes"
	"crypto/sha512"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var seed = flag.Int64("seed", 1, "seed of the random tests; 0 takes one from the clock")

// Seed returns the seed of random tests: that of flag -seed, or with 0 one from the clock.
func Seed() int64 {
	if *seed != 0 {
		return *seed
	}
	return time.Now().UnixNano()
}

// Run runs the suite. newEngine returns an engine with a new database each time; two calls may run
// concurrently.
func Run(t *testing.T, newEngine func(t testing.TB) Engine) {
	for name, test := range map[string]func(*testing.T, func(testing.TB) Engine){
		"Lookups":          testLookups,
		"TakeOverAndLeave": testTakeOverAndLeave,
		"Rewrite":          testRewrite,
		"States":           testStates,
	} {
		t.Run(name, func(t *testing.T) { test(t, newEngine) })
	}
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

// lost returns how many of keys Get, Find and Seek do not find.
func lost(t testing.TB, r Reader, keys [][]byte) (byGet, byFind, bySeek int) {
	t.Helper()
	missed := func(key, got []byte, err error) int {
		require.NoError(t, err)
		if got == nil {
			return 1
		}
		require.Equal(t, value(key), got, "value of key %x", key)
		return 0
	}
	for _, key := range keys {
		got, err := r.Get(key)
		byGet += missed(key, got, err)
		got, err = r.Find(key)
		byFind += missed(key, got, err)
		got = nil
		entries, err := r.Seek(key)
		if len(entries) > 0 && entries[0].Key == string(key) {
			got = []byte(entries[0].Value)
		}
		bySeek += missed(key, got, err)
	}
	return byGet, byFind, bySeek
}

// requireFound requires that all keys are found.
func requireFound(t testing.TB, r Reader, keys ...[][]byte) {
	t.Helper()
	byGet, byFind, bySeek := lost(t, r, slices.Concat(keys...))
	require.Equal(t, [3]int{}, [3]int{byGet, byFind, bySeek}, "keys that Get, Find and Seek lose")
}

// requireAbsent requires that no key is found.
func requireAbsent(t testing.TB, r Reader, keys [][]byte) {
	t.Helper()
	byGet, byFind, bySeek := lost(t, r, keys)
	n := len(keys)
	require.Equal(t, [3]int{n, n, n}, [3]int{byGet, byFind, bySeek}, "absent keys")
}

// Keys are found through the filters of L0, of a level between, and of the deepest one, all of them
// verified. Absent keys avoid reads, the counters of the engine and of the policy agree, and a
// filter that loses keys is noticed.
func testLookups(t *testing.T, newEngine func(testing.TB) Engine) {
	variants := newEngine(t).Variants()
	for i, v := range variants {
		if testing.Short() && i < len(variants)-1 {
			continue
		}
		for _, kind := range Kinds {
			t.Run(v.Name+"/"+string(kind), func(t *testing.T) { lookUp(t, newEngine(t), i, kind) })
		}
	}
}

func lookUp(t *testing.T, e Engine, variant int, kind Kind) {
	counted := kind.MustNew(8, "mine")
	s := Setting{Variant: variant, Policies: []*policy.Policy{counted}}
	keys, absent := fillLevels(t, e, s)
	built := counted.Counters()
	require.GreaterOrEqual(t, built.Keys, uint64(len(keys)))
	require.Greater(t, built.Bytes, built.Keys*7/8, "nearly 8 bits per key, and more")

	var watch Watch
	s.Still, s.Watch = true, &watch
	db := open(t, e, s)
	requireFound(t, db, keys)
	answers := watch.Take()
	present := Sum(answers)
	require.Contains(t, answers, Label{"mine", kind})
	delete(answers, Label{"mine", "bloom"}) // which filters of no keys may have
	delete(answers, Label{"mine", kind})
	require.Empty(t, answers)
	require.Greater(t, present.MayContain, uint64(2*len(keys)), "by Seek and by Find")
	require.Positive(t, present.Absent, "keys of one table are absent in another")

	requireAbsent(t, db, absent)
	missed := Sum(watch.Take())
	require.Greater(t, Checks(missed), uint64(4*len(absent)), "in two levels by each")
	require.Greater(t, missed.Absent, Checks(missed)*95/100)
	require.Positive(t, missed.MayContain, "8 bits per key cannot avoid all")

	checked := counted.Counters()
	checked.Absent -= built.Absent
	checked.MayContain -= built.MayContain
	require.Equal(t, missed.Absent+present.Absent, checked.Absent)
	require.Equal(t, missed.MayContain+present.MayContain, checked.MayContain)
	if n, absent := db.Checks(); n >= 0 {
		require.EqualValues(t, Checks(checked), n)
		require.EqualValues(t, checked.Absent, absent)
	}
	require.NoError(t, db.Close())

	watch.Lies = true
	db = open(t, e, s)
	byGet, _, bySeek := lost(t, db, keys)
	require.Equal(t, len(keys), bySeek, "every level has filters")
	require.Greater(t, byGet, inLevel0, "the filters of a level between are consulted too")
	require.NoError(t, db.Close())
}

// inLevel0 is how many keys fillLevels leaves in level 0.
const inLevel0 = 300

// fillLevels creates a database with tables in three levels at least, which do not move any more.
// It returns its keys and absent ones. Which levels have tables when it is closed is up to the
// engine, so it writes more keys until they do.
func fillLevels(t *testing.T, e Engine, s Setting) (keys, absent [][]byte) {
	still := s
	still.Still = true
	all := testkit.Keys(testkit.Rand(t, 1), 2600)
	absent, recent, old := all[:500], all[500:500+inLevel0], all[500+inLevel0:]
	db := open(t, e, s)
	put(t, db, old)
	require.NoError(t, db.Compact())
	tables := func() []int {
		tables, err := db.Tables()
		require.NoError(t, err)
		return tables
	}
	for levels := 0; levels < 2; levels = nonEmpty(tables()[1:]) {
		require.NoError(t, db.Close())
		db = open(t, e, s)
		n := len(all)
		all = testkit.Keys(testkit.Rand(t, 1), n+900) // the same ones, and others
		put(t, db, all[n:])
		require.NoError(t, db.Close())
		db = open(t, e, still)
	}
	put(t, db, recent)
	require.Positive(t, tables()[0], "%v", tables())
	require.NoError(t, db.Close())
	return all[500:], absent
}

// nonEmpty returns how many levels have tables.
func nonEmpty(tables []int) (n int) {
	for _, count := range tables {
		n += min(count, 1)
	}
	return n
}

package pebblev2_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// oldTables returns how many tables have not what o gives new ones, as Check counts them.
func oldTables(t testing.TB, o *pebble.Options, db *pebble.DB) (n int) {
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	tables := 0
	for _, l := range r.Levels {
		n, tables = n+l.Old, tables+l.Tables
	}
	if n > 0 {
		require.NotEmpty(t, r.Warnings)
		require.Contains(t, r.String(), fmt.Sprintf("%d of %d tables have no filter", n, tables))
	}
	return n
}

// requireRewritten calls Rewrite, and requires that no old table is left.
func requireRewritten(t testing.TB, o *pebble.Options, db *pebble.DB) {
	t.Helper()
	require.Positive(t, oldTables(t, o, db))
	var last, all int64
	require.NoError(t, pebblev2.Rewrite(context.Background(), o, db, func(done, total int64) {
		require.Greater(t, done, last)
		last, all = done, total
	}))
	require.Equal(t, all, last)
	require.Zero(t, oldTables(t, o, db))
}

// requireStops requires that Rewrite stops before it has done anything, and that Check says why.
func requireStops(t testing.TB, o *pebble.Options, db *pebble.DB, reason string) error {
	t.Helper()
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Contains(t, r.String(), "lookups may read them. Rewrite would stop: "+reason)
	old := oldTables(t, o, db)
	err = pebblev2.Rewrite(context.Background(), o, db, nil)
	require.ErrorContains(t, err, fmt.Sprintf("%d of %d tables are left: %s", old, old, reason))
	return err
}

// requireNothingToRewrite requires that Rewrite writes nothing.
func requireNothingToRewrite(t testing.TB, o *pebble.Options, db *pebble.DB) {
	t.Helper()
	require.Zero(t, oldTables(t, o, db))
	before := db.Metrics()
	require.NoError(t, pebblev2.Rewrite(context.Background(), o, db, func(done, total int64) {
		t.Errorf("%d of %d bytes", done, total)
	}))
	after := db.Metrics()
	require.Equal(t, before.WAL.BytesIn, after.WAL.BytesIn)
	require.Equal(t, before.Flush.Count, after.Flush.Count)
}

// Rewrite replaces the filters of all former settings, wherever tables lie. Snapshots and iterators
// see what they saw. TestSuite uses databases meanwhile.
func TestRewrite(t *testing.T) {
	for _, c := range []struct{ former, settings string }{ // as policy.FromString takes them
		{"", "ribbon:10"},
		{"Pebble's own", "ribbon:10"},
		{"no mark", "ribbon:10"},
		{"ribbon:10,name=other", "ribbon:10"},
		{"bloom:10", "ribbon:10"},
		{"ribbon:10", "bloom:10"},
		{"bloom:10", "bloom:16"},
		{"ribbon:16", "ribbon:10"},
	} {
		for _, shape := range []string{"last level", "several levels", "in order"} {
			for _, format := range formats {
				t.Run(fmt.Sprint(c, shape, format), func(t *testing.T) {
					if format != pebble.FormatNewest && c.former != "" || !rewrites(format) ||
						testing.Short() && c.former != "no mark" {
						t.SkipNow()
					}
					all := testkit.Keys(testkit.Rand(t, 160), 4000)
					keys, absent := all[:3500], all[3500:]
					if shape == "in order" { // Pebble moves tables
						slices.SortFunc(keys, bytes.Compare)
					}
					o := small(format)
					switch c.former {
					case "":
					case "no mark":
						configured(t, o, policyOf(t, c.settings)).BlockPropertyCollectors = nil
					case "Pebble's own":
						builtin(o)
					default:
						configured(t, o, policyOf(t, c.former))
					}
					db := open(t, "db", o)
					put(t, db, keys)
					if shape == "last level" {
						compact(t, db)
					}
					require.NoError(t, db.Close())

					db = open(t, "db", configured(t, o, policyOf(t, c.settings)))
					snapshot := db.NewSnapshot()
					iter, err := db.NewIter(nil)
					require.NoError(t, err)
					requireRewritten(t, o, db)
					requireNothingToRewrite(t, o, db)
					entries, err := rest(iter, iter.First())
					require.NoError(t, err)
					require.Len(t, entries, len(keys))
					for _, key := range keys[:1000] {
						require.True(t, answerOf(snapshot.Get(key)).found)
					}
					require.NoError(t, snapshot.Close())
					requireLookups(t, db, keys[:1000], absent)
					require.NoError(t, db.Close())
				})
			}
		}
	}
}

func policyOf(t testing.TB, settings string) *policy.Policy {
	p, err := policy.FromString(settings)
	require.NoError(t, err)
	return p
}

// Rewrite gives filters to tables of all kinds, and changes nothing that they say.
func TestRewriteTables(t *testing.T) {
	keys := [][]byte{[]byte("a"), []byte("aa"), []byte("b"), []byte("c"), []byte("cc")}
	for name, fill := range map[string]func(testing.TB, *pebble.Options, *pebble.DB){
		"keys near each other": func(t testing.TB, _ *pebble.Options, db *pebble.DB) {
			put(t, db, [][]byte{[]byte("b0\xff\xff"), []byte("b1")})
		},
		"zeros": func(t testing.TB, _ *pebble.Options, db *pebble.DB) {
			put(t, db, [][]byte{[]byte("a"), []byte("a\x00"), []byte("a\x00\x00")})
		},
		"the empty key": func(t testing.TB, _ *pebble.Options, db *pebble.DB) {
			put(t, db, [][]byte{{}, []byte("a")})
		},
		"without a log": func(t testing.TB, o *pebble.Options, db *pebble.DB) {
			put(t, db, keys)
			o.DisableWAL = true // from the next opening on
		},
		"range deletions": func(t testing.TB, _ *pebble.Options, db *pebble.DB) {
			put(t, db, keys)
			require.NoError(t, db.DeleteRange(keys[1], keys[3], nil))
			require.NoError(t, db.Flush())
		},
		"range keys": func(t testing.TB, _ *pebble.Options, db *pebble.DB) {
			put(t, db, keys)
			require.NoError(t, db.RangeKeySet(keys[1], keys[3], []byte("1"), []byte("value"), nil))
			require.NoError(t, db.Flush())
		},
		"virtual ones": func(t testing.TB, o *pebble.Options, db *pebble.DB) {
			put(t, db, keys)
			compact(t, db)
			require.NoError(t, writeTableFor(db, o, "table", []enginetest.Change{{Key: keys[2]}}))
			require.NoError(t, ingestAndExcise(db, "table", keys[2], keys[3]))
		},
		"ingested ones": func(t testing.TB, o *pebble.Options, db *pebble.DB) {
			require.NoError(t, writeTableFor(db, o, "table", []enginetest.Change{
				{Key: keys[0], Value: keys[0]}, {Key: keys[1]}, {Key: keys[2], Value: keys[2]}}))
			require.NoError(t, ingest(db, "table"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			format := pebble.FormatNewest
			if name == "the empty key" && rewrites(formats[0]) { // others assert that there is none
				format = formats[0]
			}
			o := resting(small(format))
			flat(o, 16<<10)
			db := open(t, "db", o)
			fill(t, o, db)
			before := rangesAndKeys(t, db)
			require.NoError(t, db.Close())
			db = open(t, "db", configured(t, o, ribbon(t, 10)))
			requireRewritten(t, o, db)
			requireNothingToRewrite(t, o, db)
			require.Equal(t, before, rangesAndKeys(t, db))
			requireSound(t, db)
			require.NoError(t, db.Close())
		})
	}
}

// Tables may be ingested and ranges excised while Rewrite runs. No key is lost, and an
// EventuallyFileOnlySnapshot has what it had, or says that it lost it.
func TestRewriteWhileExcising(t *testing.T) {
	o := flat(small(pebble.FormatNewest), 4<<10)
	db := open(t, "db", o)
	var keys [][]byte
	present := map[string]bool{}
	for i := range 4000 {
		keys = append(keys, fmt.Appendf(nil, "%06d", i))
		present[string(keys[i])] = true
	}
	put(t, db, keys)
	compact(t, db)
	require.NoError(t, db.Close())

	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	snapshot := db.NewEventuallyFileOnlySnapshot([]pebble.KeyRange{{Start: keys[0], End: []byte("z")}})
	rewritten := make(chan error, 1)
	go func() { rewritten <- pebblev2.Rewrite(context.Background(), o, db, nil) }()
	for n := 0; len(rewritten) == 0 || n < 20; n++ {
		excised := keys[n*97%3990:][:11]
		path := fmt.Sprint("table", n)
		written := []enginetest.Change{{Key: excised[0], Value: excised[0]}}
		require.NoError(t, writeTableFor(db, o, path, written))
		require.NoError(t, ingestAndExcise(db, path, excised[0], excised[10]))
		for i, key := range excised[:10] {
			present[string(key)] = i == 0
		}
	}
	if err := <-rewritten; err != nil { // an excise may cancel a compaction, or leave an old table
		require.ErrorContains(t, err, "tables are left")
	}
	require.NoError(t, pebblev2.Rewrite(context.Background(), o, db, nil))
	require.Zero(t, oldTables(t, o, db))
	for _, key := range keys {
		found, err := pebblev2.Has(db, key)
		require.NoError(t, err)
		require.Equal(t, present[string(key)], found, "%s", key)
		found, err = pebblev2.Has(snapshot, key)
		require.True(t, found || err != nil, "%s is lost without an error", key)
	}
	require.NoError(t, errors.Join(snapshot.Close(), db.Close()))
}

// rangesAndKeys returns what an iterator shows of r.
func rangesAndKeys(t testing.TB, r pebble.Reader) (all []string) {
	iter, err := r.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsAndRanges})
	require.NoError(t, err)
	for valid := iter.First(); valid; valid = iter.Next() {
		point, ranged := iter.HasPointAndRange()
		start, end := iter.RangeBounds()
		entry := fmt.Sprintf("%x %x %v %v %x-%x",
			iter.Key(), iter.Value(), point, ranged, start, end)
		for _, key := range iter.RangeKeys() {
			entry += fmt.Sprintf(" suffix %q: %x", key.Suffix, key.Value)
		}
		all = append(all, entry)
	}
	require.NoError(t, iter.Close())
	return all
}

// plainRangeKey is in an entry of rangesAndKeys if that has a range key without suffix.
const plainRangeKey = ` suffix ""`

// A length byte, as many bytes, and perhaps a version of 8 bytes: the program below has no other
// keys, and its functions do not expect any.
func lengthKey(prefix string, version int) []byte {
	key := append([]byte{byte(len(prefix))}, prefix...)
	return fmt.Appendf(key, "%08d", version)
}

func splitLength(key []byte) int { return len(key[:1+int(key[0])]) }

// Rewrite makes up no key. So it serves programs whose comparer has another Split than its name
// says, whose functions know their own keys only, and which have a snapshot open: nothing stays. If
// they refuse what Pebble will ask them, nothing is written, and the database can be opened.
func TestRewriteStrictPrograms(t *testing.T) {
	build, _ := debug.ReadBuildInfo()
	if slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("Pebble asks Split about bytes that are no keys, if built with -race")
	}
	var keys, absent [][]byte
	for i := range 3000 {
		keys = append(keys, lengthKey(fmt.Sprint(i), i%7), lengthKey(fmt.Sprint(i), i%7+1))
		absent = append(absent, lengthKey(fmt.Sprint(i, "no"), i%7))
	}
	keys = append(keys, append([]byte{0}, make([]byte, 8)...)) // zeros
	for name, c := range map[string]struct {
		split   pebble.Split
		refuses string // what its functions do not take, if anything
	}{
		"whole keys":  {func(key []byte) int { return len(key) }, ""},
		"a length":    {splitLength, ""},
		"a byte":      {func(key []byte) int { return len(key[:1]) }, "its prefixes"}, // no valid keys
		"a version":   {func(key []byte) int { return len(key[:len(key)-8]) }, "its prefixes"},
		"half":        {func(key []byte) int { return (len(key) + 1) / 2 }, "its prefixes"},
		"no ranges":   {splitLength, "range keys"},
		"prefixes":    {splitLength, "range keys from or to a whole key"},
		"points":      {splitLength, "tables without points"},
		"comparisons": {splitLength, "a prefix beside a whole key"},
	} {
		t.Run(name, func(t *testing.T) {
			comparer := *comparers[0]
			comparer.Split = c.split
			comparer.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
			comparer.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
			if name == "comparisons" {
				comparer.Compare = func(a, b []byte) int {
					if len(a) > 1 && len(a)+8 == len(b) && bytes.HasPrefix(b, a) {
						panic("a key has no version")
					}
					return bytes.Compare(a, b)
				}
			}
			o := flat(small(pebble.FormatNewest), 16<<10)
			o.Comparer = &comparer
			ask := func(key []byte, ranged bool) error {
				n := splitLength(key) // panics
				refused := ranged && (name == "no ranges" || name == "prefixes" && n < len(key))
				if refused || name != "half" && n != len(key) && n != len(key)-8 {
					return fmt.Errorf("key %x", key)
				}
				return nil
			}
			validating(o, func(key []byte) error { return ask(key, false) })
			mark := configured(t, o.Clone(), ribbon(t, 10)).BlockPropertyCollectors[0]
			newStrict := func() pebble.BlockPropertyCollector {
				return &strict{mark(), ask, name == "points"}
			}
			o.BlockPropertyCollectors = append(o.BlockPropertyCollectors, newStrict)
			db := open(t, "db", o)
			put(t, db, keys)
			compact(t, db)
			require.NoError(t, db.Close())

			db = open(t, "db", configured(t, o, ribbon(t, 10)))
			snapshot := db.NewSnapshot()
			before := db.Metrics().WAL.BytesIn
			if c.refuses == "" {
				requireRewritten(t, o, db)
			} else {
				requireStops(t, o, db, "the options refuse to remove range keys")
				require.Equal(t, before, db.Metrics().WAL.BytesIn)
			}
			requireLookups(t, db, keys, absent)
			levels, err := db.SSTables(pebble.WithProperties())
			require.NoError(t, err)
			for _, table := range slices.Concat(levels...) {
				p := table.Properties
				require.Zero(t, p.NumDeletions+p.NumRangeKeyUnsets)
			}
			require.NoError(t, errors.Join(snapshot.Close(), db.Close()))
			require.NoError(t, open(t, "db", o).Close())
		})
	}
}

// Rewrite writes what is old, and little of what lies between, in L0 and below.
func TestRewriteFewTables(t *testing.T) {
	o := flat(resting(small(pebble.FormatNewest)), 4<<10)
	plain := o.Clone()
	db := open(t, "db", configured(t, o, ribbon(t, 10)))
	var keys [][]byte
	for i := range 4000 {
		keys = append(keys, fmt.Appendf(nil, "%04d", i))
	}
	put(t, db, keys)
	compact(t, db)
	for i := range 4 {
		start, end := keys[1000*i+100], keys[1000*i+110]
		require.NoError(t, writeTableFor(db, plain, "table", []enginetest.Change{
			{Key: start, Value: start}, {Key: keys[1000*i+101], Value: start}}))
		require.NoError(t, ingestAndExcise(db, "table", start, end))
		for j := range 4 {
			put(t, db, keys[1000*i+200*j+200:][:20])
		}
	}
	before := tableNumbers(t, db)
	requireRewritten(t, o, db)
	after, same := tableNumbers(t, db), 0
	for number := range before {
		if after[number] {
			same++
		}
	}
	require.Greater(t, same, len(before)*3/4)
	require.NoError(t, db.Close())
}

// tableNumbers returns the numbers of all tables.
func tableNumbers(t testing.TB, db *pebble.DB) map[any]bool {
	levels, err := db.SSTables()
	require.NoError(t, err)
	numbers := map[any]bool{}
	for _, table := range slices.Concat(levels...) {
		numbers[table.FileNum] = true
	}
	return numbers
}

// A strict collector asks about each key of a table, and about the ranges that have keys. If the
// answer is an error, there can be no such table; and maybe none without points.
type strict struct {
	pebble.BlockPropertyCollector
	ask        func(key []byte, ranged bool) error
	lacksPoint bool
}

func (*strict) Name() string { return "strict" }

func (s *strict) FinishTable(buf []byte) ([]byte, error) {
	if s.lacksPoint {
		return nil, errors.New("no points")
	}
	return buf, nil
}

// Rewrite keeps range keys: where it would remove some, those without suffix, it writes nothing.
func TestRewriteKeepsRangeKeys(t *testing.T) {
	for _, memTable := range []bool{true, false} {
		o := resting(small(pebble.FormatNewest))
		db := open(t, "db", o)
		put(t, db, [][]byte{[]byte("a"), []byte("c0")})
		compact(t, db)
		put(t, db, [][]byte{[]byte("d"), []byte("e")}) // which come first, as they lie in L0
		require.NoError(t, db.RangeKeySet([]byte("b"), []byte("d"), []byte("1"), []byte("one"), nil))
		require.NoError(t, db.Close())
		db = open(t, "db", configured(t, o, ribbon(t, 10)))
		require.NoError(t, db.RangeKeySet([]byte("c"), []byte("z"), nil, []byte("two"), nil))
		if !memTable {
			require.NoError(t, db.Flush())
		}
		all, written := rangesAndKeys(t, db), db.Metrics().WAL.BytesIn
		requireStops(t, o, db, "there are range keys without suffix, from 63 on, which would be remov")
		require.Equal(t, written, db.Metrics().WAL.BytesIn)
		require.Equal(t, all, rangesAndKeys(t, db))
		require.NoError(t, db.RangeKeyUnset([]byte("c"), []byte("d"), nil, nil))
		require.NoError(t, db.RangeKeyUnset([]byte("d"), []byte("e"), nil, nil))
		all = rangesAndKeys(t, db)
		requireRewritten(t, o, db) // the others begin where the tables end
		require.Equal(t, all, rangesAndKeys(t, db))
		require.NoError(t, db.Close())
	}
}

// Rewrite leaves tables alone that have what new ones get: without keys that a filter could have,
// with versions that snapshots keep, with entries that they keep below range deletions, moved from
// a level with other settings, and in levels without filters.
func TestRewriteKeepsTables(t *testing.T) {
	keys := testkit.Keys(testkit.Rand(t, 162), 1000)
	slices.SortFunc(keys, bytes.Compare)
	for name, opts := range map[string][]pebblev2.Option{
		"one policy": nil,
		"several":    {pebblev2.WithLevel(0, bloom(t, 16)), pebblev2.WithLevel(6, bloom(t, 7))},
		"none in L6": {pebblev2.WithLevel(6, noFilters)},
		"none in L0": {pebblev2.WithLevel(0, noFilters)},
	} {
		t.Run(name, func(t *testing.T) {
			o := small(pebble.FormatNewest)
			if name == "none in L6" { // nor do those from before Configure need a mark there
				db := open(t, "db", o)
				put(t, db, keys[:300])
				compact(t, db)
				require.NoError(t, db.Close())
			}
			db := open(t, "db", configured(t, o, bloom(t, 10), opts...))
			requireNothingToRewrite(t, o, db)
			put(t, db, keys[:500]) // which Pebble moves
			compact(t, db)
			requireNothingToRewrite(t, o, db)
			for i := range 4 {
				snapshot := db.NewSnapshot()
				defer snapshot.Close()
				put(t, db, keys[100*i:][:300])
				require.NoError(t, db.DeleteRange(keys[90*i], keys[90*i+50], nil))
				require.NoError(t, db.RangeKeySet(keys[0], keys[900], nil, nil, nil))
				require.NoError(t, db.Flush())
				requireNothingToRewrite(t, o, db)
				compact(t, db)
				requireNothingToRewrite(t, o, db)
			}
			require.NoError(t, db.DeleteRange([]byte("a"), []byte("z"), nil))
			require.NoError(t, db.Flush())
			requireNothingToRewrite(t, o, db)
		})
	}
}

// A table may have the filter of a level above, but not of one below.
func TestRewriteLevels(t *testing.T) {
	keys := testkit.Keys(testkit.Rand(t, 166), 100)
	p7, p10 := bloom(t, 7), bloom(t, 10)
	o := resting(flat(small(pebble.FormatNewest), 1<<20))
	db := open(t, "db", configured(t, o, p7))
	put(t, db, keys[:50])
	compact(t, db)
	put(t, db, keys[50:])
	require.NoError(t, db.Close())
	for _, c := range []struct{ l0, l6, old int }{{7, 7, 0}, {7, 10, 0}, {10, 7, 1}, {10, 10, 2}} {
		p := map[int]*policy.Policy{7: p7, 10: p10}
		configured(t, o, p[c.l0], pebblev2.WithLevel(6, p[c.l6]))
		db := open(t, "db", o)
		r, err := pebblev2.Check(o, db)
		require.NoError(t, err)
		require.Equal(t, c.old, r.Levels[0].Old+r.Levels[6].Old, "%+v", c)
		require.NoError(t, db.Close())
	}
}

// Rewrite goes on after its context was cancelled, and brings nothing into the block cache.
func TestRewriteGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 150 MB")
	}
	o := small(pebble.FormatNewest)
	o.MemTableSize, o.Cache = 64<<20, pebble.NewCache(1<<30)
	defer o.Cache.Unref()
	db := open(t, "db", resting(flat(o, 2<<20)))
	rng := testkit.Rand(t, 163)
	for i := range 150 { // three parts
		random := make([]byte, 1<<20)
		rng.Read(random)
		require.NoError(t, db.Set(fmt.Appendf(nil, "%03d", i), random, pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	compact(t, db)
	require.NoError(t, db.Close())

	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	all := oldTables(t, o, db)
	ctx, cancel := context.WithCancel(context.Background())
	parts := 0
	err := pebblev2.Rewrite(ctx, o, db, func(done, total int64) {
		require.InDelta(t, 64<<20, done, 4<<20)
		require.InDelta(t, 150<<20, total, 1<<20)
		parts++
		cancel()
	})
	// A range of its own for each table leaves compactions small: with one for all, there are 4 here,
	// and they need a third more disk, not a fifth.
	require.Greater(t, db.Metrics().Compact.Count, int64(4))
	require.ErrorIs(t, err, context.Canceled)
	left := oldTables(t, o, db)
	require.ErrorContains(t, err, fmt.Sprintf("%d of %d tables are left: ", left, all))
	require.Equal(t, 1, parts)
	require.Less(t, left, all)
	require.Greater(t, left, all/3)
	requireRewritten(t, o, db)
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Less(t, uint64(db.Metrics().BlockCache.Size), 2*pebblev2.Blocks(r)+1<<20)
	require.NoError(t, db.Close())
}

// Rewrite refuses what cannot work, says how much is left, and does not go through the whole
// database if new tables do not get filters.
func TestRewriteRefuses(t *testing.T) {
	ctx := context.Background()
	o := small(pebble.FormatNewest)
	db := open(t, "db", o)
	put(t, db, [][]byte{[]byte("a"), []byte("c")})
	compact(t, db)
	ours := configured(t, o.Clone(), ribbon(t, 10))
	require.ErrorContains(t, pebblev2.Rewrite(ctx, o, db, nil), "pass them to Configure")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	written := db.Metrics().WAL.BytesIn
	require.ErrorIs(t, pebblev2.Rewrite(canceled, ours, db, nil), context.Canceled)
	require.Equal(t, written, db.Metrics().WAL.BytesIn)
	require.ErrorContains(t, pebblev2.Rewrite(ctx, ours, db, nil),
		"1 of 1 tables are left: tables that were written meanwhile lack the filters of the options")
	require.NoError(t, db.Close())

	readOnly := ours.Clone()
	readOnly.ReadOnly = true
	db = open(t, "db", readOnly)
	require.ErrorIs(t, requireStops(t, readOnly, db, "pebble: read-only"), pebble.ErrReadOnly)
	require.NoError(t, db.Close())
	db = open(t, "db", ours)
	requireRewritten(t, ours, db)
	require.NoError(t, db.Close())
	db = open(t, "db", readOnly)
	require.NoError(t, pebblev2.Rewrite(ctx, readOnly, db, nil), "there is nothing to do")
	require.NoError(t, db.Close())

	o = resting(small(pebble.FormatNewest))
	o.L0StopWritesThreshold = 100
	db = open(t, "db", o)
	for range 15 {
		put(t, db, [][]byte{[]byte("a"), []byte("c")})
	}
	require.NoError(t, db.Close())
	o.L0StopWritesThreshold = 0
	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	requireStops(t, o, db, "L0 has 15 sublevels, at which Pebble stops all writes: call DB.Compact")
	compact(t, db)
	require.Zero(t, oldTables(t, o, db))
	require.NoError(t, db.Close())

	o = small(formats[0])
	db = open(t, "db", o)
	put(t, db, [][]byte{[]byte("a"), []byte("c")})
	require.NoError(t, db.Close())
	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	if rewrites(formats[0]) {
		require.NoError(t, pebblev2.Rewrite(ctx, o, db, nil))
	} else {
		requireStops(t, o, db, "the format is too old: set FormatMajorVersion")
	}
	require.NoError(t, db.Close())
}

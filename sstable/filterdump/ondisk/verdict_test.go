package ondisk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// manyLevels makes a goleveldb database of small tables in two levels, of every third number up to
// 3n in random order, and returns its directory.
func manyLevels(t *testing.T, n int, o opt.Options) string {
	dir := t.TempDir()
	var keys [][]byte
	for _, i := range seeded(t).Perm(n) {
		keys = append(keys, fmt.Appendf(nil, "%08d", 3*i))
	}
	o.CompactionTableSize = 32 << 10
	fill(t, dir, &o, 8, keys, func() []byte { return make([]byte, 100) })
	return dir
}

// Of a small database all keys are taken, and all absent keys between them: each is looked up once,
// whichever of its neighbors lies in which table.
func TestAllAbsentKeys(t *testing.T) {
	const n = 5000
	dir := manyLevels(t, n, opt.Options{Filter: filter.NewBloomFilter(10)})
	v := count(t, dir)
	require.Equal(t, "goleveldb", v.Engine)
	require.Equal(t, n-1, v.Sampled, "nothing follows the last key")
	require.Equal(t, 2*(n-1), v.Lookups)
	require.EqualValues(t, n, v.Keys)
	require.Greater(t, len(v.Levels), 1)

	// How many tables have each absent key in their range.
	s, err := tables.ReadStructure(dir)
	require.NoError(t, err)
	ranges, level0 := 0.0, 0.0
	for i := range 3*n - 2 {
		key := fmt.Appendf(nil, "%08d", i)
		for _, p := range s.Tables {
			if i%3 > 0 && bytes.Compare(p.Smallest, key) < 0 && bytes.Compare(key, p.Largest) < 0 {
				ranges++
				if p.Level == 0 {
					level0++
				}
			}
		}
	}
	per := 1000 / float64(v.Lookups)
	require.InEpsilon(t, per*ranges, v.Sum(func(l *verdict.Level) float64 { return l.Ranges }), 1e-9)
	require.InDelta(t, per*ranges, v.Sum(func(l *verdict.Level) float64 { return l.Checks }), 1e-6)
	if v.Levels[0].Number == 0 {
		require.InEpsilon(t, per*level0, v.Levels[0].Ranges, 1e-9)
	}
	require.Equal(t, v, count(t, dir), "the same files give the same verdict")
}

// Without filters, a lookup reads each table in whose range its key lies. What tables without
// filters read is told apart.
func TestUnfilteredTables(t *testing.T) {
	o := opt.Options{}
	dir := manyLevels(t, 5000, o)
	v := count(t, dir)
	for _, l := range v.Levels {
		require.Equal(t, l.Tables, l.Unfiltered)
		require.Zero(t, l.Checks)
		require.Equal(t, l.Read, l.ReadUnfiltered)
		require.InEpsilon(t, l.Bare, l.Read, 0.05)
		require.GreaterOrEqual(t, l.Read, l.Ranges)
	}
	o = opt.Options{}
	require.NoError(t, goleveldb.Configure(&o, policytest.Must(policy.NewRibbon(10))))
	var keys [][]byte
	for i := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "%08d", 3*i))
	}
	fill(t, dir, &o, 2, keys, func() []byte { return make([]byte, 100) })
	mixed := count(t, dir)
	with := 0
	for _, l := range mixed.Levels {
		with += l.Tables - l.Unfiltered
		require.Equal(t, l.Unfiltered > 0, l.ReadUnfiltered > 0)
		require.LessOrEqual(t, l.ReadUnfiltered, l.Read)
		require.Less(t, l.Read-l.ReadUnfiltered, 50.0, "with filters")
	}
	require.Positive(t, with)
	require.Greater(t, mixed.Sum(mixed.Get), 1000.0, "those without filters are not left out")
}

// A table that is gone is left out, and said to be.
func TestCountWithoutTable(t *testing.T) {
	dir := manyLevels(t, 5000, opt.Options{Filter: filter.NewBloomFilter(10)})
	before := count(t, dir)
	require.Positive(t, before.Lookups)
	require.Zero(t, before.Unread)
	_, paths, err := tables.Of(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(paths[0]))
	v, err := Count(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, 1, v.Unread)
	require.Less(t, v.Keys, before.Keys)
	require.Contains(t, v.Sentence, "No verdict: 1 of its tables could not be read")
}

// Of a virtual table only the keys in its bounds count, and each file once.
func TestCountVirtualTables(t *testing.T) {
	const n = 9000
	dir := t.TempDir()
	db, err := pebble.Open(dir, &pebble.Options{
		FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}, DisableAutomaticCompactions: true})
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, db.Set(fmt.Appendf(nil, "%08d", 3*i), make([]byte, 100), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.Compact(context.Background(), []byte("0"), []byte("9"), false))
	require.NoError(t, db.Excise(context.Background(), pebble.KeyRange{
		Start: fmt.Appendf(nil, "%08d", n), End: fmt.Appendf(nil, "%08d", 2*n)}))
	defer db.Close()
	v := count(t, dir)
	require.Equal(t, "pebblev2", v.Engine)
	require.Equal(t, n*2/3-1, v.Sampled)
	require.Equal(t, 2*(n*2/3-2)+64, v.Lookups, "the excised keys are one gap")
	require.EqualValues(t, n, v.Keys, "those of the files")
	// Nothing in the gap is in a table's range.
	ranges := v.Sum(func(l *verdict.Level) float64 { return l.Ranges })
	require.InDelta(t, 1000*(1-64/float64(v.Lookups)), ranges, 1e-6)
}

// Where nothing can be counted, the verdict says why, or the error does.
func TestNoVerdict(t *testing.T) {
	v, err := Count(context.Background(), t.TempDir())
	require.NoError(t, err)
	require.Contains(t, v.Sentence, "No verdict: there is no manifest that can be read: ")

	p := policytest.Must(policy.NewBloom(10, policy.WithName("mine")))
	o := opt.Options{}
	require.NoError(t, goleveldb.Configure(&o, p))
	dir := manyLevels(t, 5000, o)
	v, err = Count(context.Background(), dir)
	require.NoError(t, err)
	require.Contains(t, v.Sentence, "No verdict: the policy mine is not known here")
	v, err = Count(context.Background(), dir, "mine")
	require.NoError(t, err)
	require.NotZero(t, v.Lookups)

	reverse := *pebble.DefaultComparer
	reverse.Name = "test.reverse"
	reverse.Compare = func(a, b []byte) int { return bytes.Compare(b, a) }
	reverse.Split = nil
	dir = t.TempDir()
	db, err := pebble.Open(dir, &pebble.Options{Comparer: &reverse, Logger: quiet{}})
	if err == nil {
		for i := range 100 {
			require.NoError(t, db.Set(fmt.Appendf(nil, "%08d", i), nil, pebble.NoSync))
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
		v, err = Count(context.Background(), dir)
		require.NoError(t, err)
		require.Regexp(t, "^No verdict: the (comparer test.reverse|keys are not in)", v.Sentence)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Count(ctx, dir)
	require.ErrorIs(t, err, context.Canceled)
}

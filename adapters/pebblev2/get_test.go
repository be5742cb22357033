package pebblev2_test

import (
	"errors"
	"io"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// answer is what a Get answers. An empty value is nil or not, as compactions have it.
type answer struct {
	found bool
	value string
	err   error
}

func answerOf(value []byte, closer io.Closer, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	a := answer{found: true, value: string(value)}
	a.err = closer.Close()
	return a
}

// requireSameAnswer requires that Get, Has, HasMany and MayContain answer what r.Get does, and
// returns that.
func requireSameAnswer(t testing.TB, r pebble.Reader, key []byte) answer {
	t.Helper()
	want := answerOf(r.Get(key))
	wantErr := want.err
	if wantErr == pebble.ErrNotFound {
		wantErr = nil
	}
	require.Equal(t, want, answerOf(pebblev2.Get(r, key)), "%T, key %q", r, key)
	has, err := pebblev2.Has(r, key)
	require.Equal(t, want.found, has, "%T, key %q", r, key)
	require.Equal(t, wantErr, err, "%T, key %q", r, key)
	requireAllFound(t, r, [][]byte{key}, []bool{want.found}, wantErr)
	may, err := pebblev2.MayContain(r, key)
	require.True(t, may || !want.found, "%T, key %q", r, key)
	require.Equal(t, wantErr, err, "%T, key %q", r, key)
	return want
}

// requireAllFound requires that HasMany answers so.
func requireAllFound(t testing.TB, r pebble.Reader, keys [][]byte, want []bool, wantErr error) {
	t.Helper()
	if wantErr != nil {
		want = nil
	}
	found, err := pebblev2.HasMany(r, keys)
	require.Equal(t, want, found, "%T, keys %q", r, keys)
	require.Equal(t, wantErr, err, "%T, keys %q", r, keys)
}

// With the empty key, iterators of Pebble do not stay within the prefix. With -race that is fatal.
// The format is the oldest because Pebble v2 panics if that key is written to a columnar block.
func TestGetEmptyKey(t *testing.T) {
	o := small(formats[0])
	db := open(t, "db", configured(t, o, bloom(t, 10)))
	for _, write := range []func() error{
		func() error { return db.Set([]byte("key"), nil, nil) },
		func() error { return db.Set(nil, []byte("value"), nil) },
		db.Flush,
		func() error { return db.Delete(nil, nil) },
		db.Flush,
	} {
		require.Equal(t, requireSameAnswer(t, db, nil), requireSameAnswer(t, db, []byte{}))
		require.NoError(t, write())
	}
	require.Equal(t, answer{err: pebble.ErrNotFound}, requireSameAnswer(t, db, nil))
	require.NoError(t, db.Close())
}

// A batch that is not indexed cannot be read, and one that is can be after its commit too. For no
// keys HasMany reads nothing.
func TestGetFromBatches(t *testing.T) {
	o := small(pebble.FormatNewest)
	db := open(t, "db", o)
	unindexed, committed := db.NewBatch(), db.NewIndexedBatch()
	require.NoError(t, committed.Set([]byte("key"), nil, nil))
	require.NoError(t, committed.Commit(pebble.NoSync))
	require.Equal(t, pebble.ErrNotIndexed, requireSameAnswer(t, unindexed, []byte("key")).err)
	require.True(t, requireSameAnswer(t, committed, []byte("key")).found)
	requireAllFound(t, unindexed, nil, []bool{}, nil)
	require.NoError(t, errors.Join(unindexed.Close(), committed.Close(), db.Close()))
}

// errRead is the error of reads that are made to fail.
var errRead = errors.New("this read fails")

// failingReads lets one read of a file fail.
type failingReads struct {
	count atomic.Int64
	at    atomic.Int64 // which one, counted from 1; 0 for no read
}

func (f *failingReads) next(fileRead) error {
	if f.count.Add(1) == f.at.Load() {
		return errRead
	}
	return nil
}

// try calls look while read n fails. It returns whether there was such a read.
func (f *failingReads) try(n int64, look func()) bool {
	f.count.Store(0)
	f.at.Store(n)
	look()
	f.at.Store(0)
	return f.count.Load() >= n
}

// openUncached opens a database in which every lookup reads everything again, and nothing else
// reads.
func (f *failingReads) openUncached(t testing.TB, o *pebble.Options) *pebble.DB {
	o.FS, o.Cache = reading(o.FS, f.next), pebble.NewCache(1)
	t.Cleanup(o.Cache.Unref)
	return openLoaded(t, "db", resting(o))
}

// requireErrors requires that each way to look key up returns the error of any read that fails, and
// leaves nothing open. It returns how many reads each way makes.
func (f *failingReads) requireErrors(
	t testing.TB, db *pebble.DB, key []byte,
) map[string]int64 {
	want := answerOf(db.Get(key)).found
	counts := make(map[string]int64)
	all := maps.Clone(lookUps)
	all["HasMany of more"] = func(r pebble.Reader, key []byte) (bool, error) { // after the error too
		found, err := pebblev2.HasMany(r, [][]byte{key, key})
		return err == nil && found[0], err
	}
	for name, look := range all {
		for {
			var found bool
			var err error
			if !f.try(counts[name]+1, func() { found, err = look(db, key) }) {
				require.NoError(t, err)
				require.True(t, found == want || name == "MayContain", "%s, key %x", name, key)
				break
			}
			counts[name]++
			require.ErrorIs(t, err, errRead, "%s, read %d, key %x", name, counts[name], key)
			require.False(t, found)
			require.Zero(t, db.Metrics().TableIters)
		}
	}
	return counts
}

// If any read fails, Get and the others return its error, in any level.
func TestGetReadErrors(t *testing.T) {
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		withL6 := func() *pebble.Options {
			return configured(t, options(), bloom(t, 10))
		}
		all := testkit.Keys(testkit.Rand(t, 121), 3002)
		fill(t, "db", withL6, all[:3000])
		var reads failingReads
		db := reads.openUncached(t, withL6())
		for _, price := range []int{0, 512} {
			pebblev2.SetReadPrice(t, price)
			for _, key := range [][]byte{all[0], all[1500], all[2999], all[3000], all[3001]} {
				require.Positive(t, reads.requireErrors(t, db, key)["MayContain"])
			}
		}
		require.NoError(t, db.Close())
	})
}

// Get and Has read values that Pebble stores apart from their keys, and return the error if that
// fails.
func TestGetValuesApart(t *testing.T) {
	fs := vfs.NewMem()
	options := func() *pebble.Options {
		o := resting(small(pebble.FormatNewest))
		o.FS, o.Comparer = fs, getComparers[1]
		keepApart(o)
		return configured(t, o, bloom(t, 10))
	}
	key := []byte("key@1") // an older version than the next key
	db := open(t, "db", options())
	put(t, db, [][]byte{key, []byte("key@2")})
	compact(t, db)
	require.NoError(t, db.Close())

	var reads failingReads
	db = reads.openUncached(t, options())
	require.Equal(t, string(value(key)), requireSameAnswer(t, db, key).value)
	reads.requireErrors(t, db, key)
	_, closer, err := pebblev2.Get(db, key)
	require.NoError(t, err)
	require.Positive(t, db.Metrics().TableIters, "the value is valid until it is closed")
	require.NoError(t, closer.Close())
	require.NoError(t, db.Close())
}

// The runtime counts what the whole process allocates, goroutines of Pebble too.
func TestAllocations(t *testing.T) {
	testkit.Large(t)
	if testkit.Race {
		t.Skip("the race detector makes pools forget")
	}
	all := testkit.Keys(testkit.Rand(t, 123), 2000)
	keys, absent := all[:1000], all[1000:]
	o := small(pebble.FormatNewest)
	db := open(t, "db", resting(configured(t, o, bloom(t, 10))))
	put(t, db, keys)
	compact(t, db)
	allocations := func(keys [][]byte, look func(key []byte)) float64 {
		i := 0
		return testing.AllocsPerRun(len(keys)-1, func() { look(keys[i]); i++ })
	}
	has := func(key []byte) { _, _ = pebblev2.Has(db, key) }
	require.EqualValues(t, hasAllocations, allocations(absent, has))
	byGet := allocations(keys, func(key []byte) { answerOf(db.Get(key)) })
	require.LessOrEqual(t, allocations(keys, has), hasAllocations+byGet)
	require.NoError(t, db.Close())
}

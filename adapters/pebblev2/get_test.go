package pebblev2_test

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
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

// requireSameAnswer requires that Get, Has, HasAll and MayContain answer what r.Get does, and
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

// requireAllFound requires that HasAll answers so.
func requireAllFound(t testing.TB, r pebble.Reader, keys [][]byte, want []bool, wantErr error) {
	t.Helper()
	if wantErr != nil {
		want = nil
	}
	found, err := pebblev2.HasAll(r, keys)
	require.Equal(t, want, found, "%T, keys %q", r, keys)
	require.Equal(t, wantErr, err, "%T, keys %q", r, keys)
}

// With the empty key, iterators of Pebble do not stay within the prefix. With -race that is fatal.
// The format is the oldest because Pebble v2 panics if that key is written to a columnar block.
func TestGetEmptyKey(t *testing.T) {
	o := small(formats[0])
	o.FS = vfs.NewMem()
	db := open(t, "db", configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10))))
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

// A batch that is not indexed cannot be read, and one that is can be after its commit too.
func TestGetFromBatches(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	db := open(t, "db", o)
	unindexed, committed := db.NewBatch(), db.NewIndexedBatch()
	require.NoError(t, committed.Set([]byte("key"), nil, nil))
	require.NoError(t, committed.Commit(pebble.NoSync))
	require.Equal(t, pebble.ErrNotIndexed, requireSameAnswer(t, unindexed, []byte("key")).err)
	require.True(t, requireSameAnswer(t, committed, []byte("key")).found)
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

// lookUps are the ways to look a key up, besides Get.
var lookUps = map[string]func(r pebble.Reader, key []byte) (bool, error){
	"Has":        pebblev2.Has,
	"MayContain": pebblev2.MayContain,
	"HasAll": func(r pebble.Reader, key []byte) (bool, error) {
		found, err := pebblev2.HasAll(r, [][]byte{key})
		return err == nil && found[0], err
	},
}

// If any read fails, Get and the others return its error, and leave nothing open.
func TestGetReadErrors(t *testing.T) {
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		fs := vfs.NewMem()
		withL6 := func() *pebble.Options {
			o := options()
			o.FS = fs
			return configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10)))
		}
		all := enginetest.Keys(enginetest.Rand(t, 121), 3010)
		keys, absent := all[:3000], all[3000:]
		fill(t, "db", withL6, keys)
		var reads failingReads
		db := reads.openUncached(t, withL6())

		failed := 0
		for _, key := range [][]byte{keys[0], keys[1500], keys[2999], absent[0], absent[1]} {
			want := answerOf(db.Get(key))
			for n := int64(1); n <= 12; n++ {
				var got answer
				if reads.try(n, func() { got = answerOf(pebblev2.Get(db, key)) }) {
					require.ErrorIs(t, got.err, errRead, "read %d, key %x", n, key)
					failed++
				} else {
					require.Equal(t, want, got, "read %d, key %x", n, key)
				}
				for name, look := range lookUps {
					var found bool
					var err error
					if reads.try(n, func() { found, err = look(db, key) }) {
						require.ErrorIs(t, err, errRead, "%s, read %d, key %x", name, n, key)
						require.False(t, found)
					} else {
						require.NoError(t, err)
						if name != "MayContain" || want.found {
							require.Equal(t, want.found, found, name)
						}
					}
				}
			}
		}
		require.GreaterOrEqual(t, failed, 10)
		require.Less(t, failed, 60)
		require.NoError(t, db.Close(), "no iterator is open")
	})
}

// Get reads values that Pebble stores apart from their keys, and returns the error if that fails.
// Has does not read them.
func TestGetValuesApart(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS, o.Comparer = vfs.NewMem(), getComparers[len(getComparers)-1]
	keepApart(o)
	var reads failingReads
	db := reads.openUncached(t, o)
	key := []byte("key@1") // an older version than the next key
	put(t, db, [][]byte{key, []byte("key@2")})
	compact(t, db)

	count := func(look func()) int64 {
		reads.try(0, look)
		return reads.count.Load()
	}
	require.Equal(t, string(value(key)), requireSameAnswer(t, db, key).value)
	toFind := count(func() { _, _ = pebblev2.Has(db, key) })
	toRead := count(func() { _, _ = readValue(pebblev2.Get(db, key)) })
	require.Greater(t, toRead, toFind)
	_, closer, err := pebblev2.Get(db, key)
	require.NoError(t, err)
	require.Positive(t, db.Metrics().TableIters, "the value is valid until it is closed")
	require.NoError(t, closer.Close())
	require.Zero(t, db.Metrics().TableIters)
	silent := 0
	for n := int64(1); n <= toRead; n++ {
		require.True(t, reads.try(n, func() {
			_, _, err := pebblev2.Get(db, key)
			require.ErrorIs(t, err, errRead, "read %d of %d", n, toRead)
		}))
		reads.try(n, func() {
			got, closer, err := db.Get(key)
			if err == nil && len(got) == 0 {
				silent++
			}
			if err == nil {
				_ = closer.Close() // only this may return the error
			}
		})
	}
	t.Logf("if one of %d reads fails, Pebble's own Get returns an empty value without an error in "+
		"%d cases", toRead, silent)
	require.NoError(t, db.Close(), "no iterator is open")
}

func TestAllocations(t *testing.T) {
	if pebblev2.RaceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	all := enginetest.Keys(enginetest.Rand(t, 123), 2000)
	keys, absent := all[:1000], all[1000:]
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	db := open(t, "db", resting(configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10)))))
	put(t, db, keys)
	compact(t, db)
	for name, keys := range map[string][][]byte{"present": keys, "absent": absent} {
		i := 0
		allocations := testing.AllocsPerRun(len(keys)-1, func() {
			found, err := pebblev2.Has(db, keys[i])
			require.True(t, err == nil && found == (name == "present"))
			i++
		})
		require.EqualValues(t, hasAllocations, allocations, name)
	}
	require.NoError(t, db.Close())
}

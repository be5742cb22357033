package pebblev2_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// Tables that were not written where they are: their keys got another suffix, they are shared, or a
// snapshot moved to them.

// versioned returns n keys with a version.
func versioned(n, version int) (changes []enginetest.Change) {
	for i := range n {
		key := fmt.Appendf(nil, "k%05d@%d", i, version)
		changes = append(changes, enginetest.Change{Key: key, Value: value(key)})
	}
	return changes
}

// requireVersions requires that all lookups find n keys in a version, and none in another.
func requireVersions(t testing.TB, r pebble.Reader, n, version int) {
	t.Helper()
	for v := range 4 {
		for _, c := range versioned(n, v) {
			require.Equal(t, v == version, requireSameAnswer(t, r, c.Key).found)
		}
	}
}

// openVersioned opens a database whose keys end in versions.
func openVersioned(
	t testing.TB, change func(o *pebble.Options),
) (*pebble.DB, *pebble.Options) {
	o := small(pebble.FormatNewest)
	o.FS, o.Comparer = vfs.NewMem(), getComparers[len(getComparers)-1]
	configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10)))
	if change != nil {
		change(o)
	}
	return open(t, "db", o), o
}

// readAll returns the bytes of a file.
func readAll(t testing.TB, fs vfs.FS, path string) []byte {
	file, err := fs.Open(path)
	require.NoError(t, err)
	all, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return all
}

// A table whose keys get another suffix keeps filter and mark.
func TestRewrittenSuffixes(t *testing.T) {
	const n = 500
	db, o := openVersioned(t, nil)
	require.NoError(t, writeTableFor(db, o, "table", versioned(n, 1)))
	full := ensured(o)
	_, _, err := sstable.RewriteKeySuffixesAndReturnFormat(readAll(t, o.FS, "table"),
		full.MakeReaderOptions(), createWritable(t, o.FS, "rewritten"),
		full.MakeWriterOptions(0, tableFormat(db)), []byte("@1"), []byte("@2"), 1)
	require.NoError(t, err)
	require.NoError(t, ingest(db, "rewritten"))
	requireVersions(t, db, n, 2)
	requireMarked(t, db, true)
	require.NoError(t, db.Close())
}

// requireMarked requires that all tables of db have filters, and all the mark or none.
func requireMarked(t testing.TB, db *pebble.DB, want bool) {
	t.Helper()
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	filters, marks := 0, 0
	for _, level := range levels {
		require.Zero(t, level.None)
		filters += level.ByName[policy.Name]
		marks += level.Marked
	}
	require.Positive(t, filters)
	require.Equal(t, map[bool]int{true: filters}[want], marks)
}

// An EventuallyFileOnlySnapshot answers the same before and after it moves from memtables to
// tables, whatever is written meanwhile.
func TestTransition(t *testing.T) {
	const n = 300
	db, _ := openVersioned(t, nil)
	for _, c := range versioned(n, 1) {
		require.NoError(t, db.Set(c.Key, c.Value, pebble.NoSync))
	}
	snapshot := db.NewEventuallyFileOnlySnapshot(
		[]pebble.KeyRange{{Start: []byte("a"), End: []byte("z")}})
	for i, c := range versioned(n, 1) {
		switch i % 3 {
		case 0:
			require.NoError(t, db.Delete(c.Key, pebble.NoSync))
		case 1:
			require.NoError(t, db.Set(c.Key, nil, pebble.NoSync))
		}
	}
	requireVersions(t, snapshot, n, 1)
	require.NoError(t, db.Flush())
	require.NoError(t, snapshot.WaitForFileOnlySnapshot(context.Background(), time.Nanosecond))
	requireVersions(t, snapshot, n, 1)
	compact(t, db)
	requireVersions(t, snapshot, n, 1)
	require.NoError(t, snapshot.Close())
	require.NoError(t, db.Close())
}

// Tables on shared storage have filters and marks too.
func TestSharedObjects(t *testing.T) {
	const n = 500
	db, _ := openVersioned(t, func(o *pebble.Options) {
		o.Experimental.RemoteStorage = remote.MakeSimpleFactory(
			map[remote.Locator]remote.Storage{"": remote.NewInMem()})
		o.Experimental.CreateOnShared = remote.CreateOnSharedAll
	})
	require.NoError(t, db.SetCreatorID(1))
	for _, c := range versioned(n, 1) {
		require.NoError(t, db.Set(c.Key, c.Value, pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	requireVersions(t, db, n, 1)
	requireMarked(t, db, true)
	for i, c := range versioned(n, 1) {
		if i%2 == 0 {
			require.NoError(t, db.Set(c.Key, nil, pebble.NoSync))
		}
	}
	require.NoError(t, db.Flush())
	compact(t, db)
	requireVersions(t, db, n, 1)
	require.NoError(t, db.Close())
}

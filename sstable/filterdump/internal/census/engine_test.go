package census

import (
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
)

// The engine and its cache are those of whoever opened the database last.
func TestEngineOf(t *testing.T) {
	requireEngine := func(dir, want string, wantCache int64) {
		engine, cache := engineOf(dir)
		require.Equal(t, want, engine)
		require.Equal(t, wantCache, cache)
	}
	dir := t.TempDir()
	db, err := leveldb.OpenFile(dir, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	requireEngine(dir, "goleveldb", 8<<20)

	dir = t.TempDir()
	for _, size := range []int64{3 << 20, 5 << 20} {
		cache := v1.NewCache(size)
		old, err := v1.Open(dir, &v1.Options{Cache: cache, FormatMajorVersion: v1.FormatNewest})
		require.NoError(t, err)
		require.NoError(t, old.Close())
		cache.Unref()
		requireEngine(dir, "pebblev1", size)
	}
	cache := v2.NewCache(7 << 20)
	defer cache.Unref()
	newer, err := v2.Open(dir, &v2.Options{Cache: cache})
	require.NoError(t, err)
	require.NoError(t, newer.Close())
	requireEngine(dir, "pebblev2", 7<<20)

	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "OPTIONS-000005"),
		[]byte("[Version]\n  rocksdb_version=9.0.0\n"), 0o600))
	requireEngine(dir, "", 0)
}

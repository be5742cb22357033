package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// All stored databases are opened by their engine, and those without an OPTIONS file too.
func TestEngines(t *testing.T) {
	for dir, want := range map[string]string{
		stored[0]: "goleveldb", stored[1]: "goleveldb", stored[2]: "goleveldb",
		stored[3]: "pebblev1", stored[4]: "pebblev2",
	} {
		v := view(t, filepath.Join("../../../../testdata", dir))
		require.Equal(t, want, v.Engine, dir)
		names := []string{policy.Name} // Has of Pebble v1 needs one
		db, err := Open(Options{View: v.Dir, Settings: v.Settings, Names: names}, nil)
		require.NoError(t, err)
		var last []byte
		require.NoError(t, db.Keys(func(key []byte) {
			require.Greater(t, string(key), string(last))
			last = append(last[:0], key...)
		}))
		for _, get := range []func([]byte) (bool, error){db.Get, db.Has} {
			found, err := get(last)
			require.NoError(t, err)
			require.True(t, found)
			found, err = get(append(last, 0))
			require.NoError(t, err)
			require.False(t, found)
		}
		memory, err := db.Memory(Sizes{Filters: 1 << 20, Largest: 1 << 18, Indexes: 1 << 10})
		require.NoError(t, err)
		require.Equal(t, want != "goleveldb", memory != "", "Pebble's memtables take its cache")
		memory, err = db.Memory(Sizes{Filters: 1 << 30, Largest: 1 << 20, Indexes: 1 << 10})
		require.NoError(t, err)
		require.Contains(t, memory, "is too small for ")
		require.Contains(t, memory, "filters and indexes (1024.0 MiB) twice")
		require.NoError(t, db.Close())
	}
}

// The settings are those of the program that opened the database last.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int64{3 << 20, 5 << 20} {
		o := &v1.Options{Cache: v1.NewCache(size), FormatMajorVersion: v1.FormatNewest,
			Logger: Quiet{}}
		old, err := v1.Open(dir, o)
		require.NoError(t, err)
		require.NoError(t, old.Close())
		o.Cache.Unref()
		require.Equal(t, Settings{Engine: "pebblev1", Cache: size, MemTable: 4 << 20,
			OpenFiles: 1000}, view(t, dir).Settings)
	}
	newer, err := v2.Open(dir,
		&v2.Options{CacheSize: 7 << 20, MaxOpenFiles: 2000, Logger: Quiet{}})
	require.NoError(t, err)
	require.NoError(t, newer.Close())
	want := Settings{Engine: "pebblev2", Cache: 7 << 20, MemTable: 4 << 20, OpenFiles: 2000}
	require.Equal(t, want, view(t, dir).Settings)

	// Numbers out of range are no figures.
	for _, text := range []string{"-1", "9223372036854775808", "1099511627777", "1e9", ""} {
		require.Zero(t, sizeOf("\n  cache_size="+text+"\n", "cache_size"), text)
	}
}

// A view has the tables that the database deletes meanwhile, where the system allows that.
func TestViewHoldsTables(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("links to open files need Linux")
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../testdata/"+stored[2])))
	v := view(t, dir)
	require.NoError(t, os.RemoveAll(dir))
	require.Len(t, levelsOf(t, v), 3)
	for _, name := range v.Tables {
		_, err := os.ReadFile(filepath.Join(v.Dir, name))
		require.NoError(t, err)
	}
	v.Close()
	require.NoDirExists(t, v.Dir)
}

// What is no database, and a manifest that is no file, is an error.
func TestNoView(t *testing.T) {
	dir := t.TempDir()
	_, err := NewView(dir)
	require.ErrorIs(t, err, ErrNoDatabase)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-1\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "MANIFEST-1"), 0o700))
	_, err = NewView(dir)
	require.ErrorContains(t, err, "not a regular file")
}

func TestNumber(t *testing.T) {
	for path, want := range map[string]int{"dir.sst/000012.ldb": 12, "7.sst": 7, "000012.log": -1,
		"CURRENT": -1, "+5.sst": -1, "-5.sst": -1, ".sst": -1, "99999999999999999999.ldb": -1} {
		require.Equal(t, want, Number(path), path)
	}
}

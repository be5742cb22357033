package keys

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..", "testdata", "leveldb", "tables")

// golden returns the keys of the tables in one of C++ LevelDB's databases, by the tables' paths.
// (Package ondisk reads the tables of other engines.)
func golden(t *testing.T, name string) map[string][]string {
	var golden struct {
		Tables []struct {
			File     string
			UserKeys []string `json:"user_keys"`
		}
	}
	content, err := os.ReadFile(filepath.Join(root, name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &golden))
	tables := map[string][]string{}
	for _, table := range golden.Tables {
		path := filepath.Join(root, name, table.File)
		for _, digits := range table.UserKeys {
			key, err := hex.DecodeString(digits)
			require.NoError(t, err)
			tables[path] = append(tables[path], string(key))
		}
	}
	return tables
}

// sorted returns the keys of all tables, once each.
func sorted(tables map[string][]string) []string {
	all := map[string]bool{}
	for _, keys := range tables {
		for _, key := range keys {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// state is what a reader could change in a directory.
func state(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = fmt.Sprint(info.ModTime(), info.Mode(), string(content))
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	files["."] = fmt.Sprint(info.ModTime())
	return files
}

// requireKeys reads a path whose directory must stay as it is.
func requireKeys(t *testing.T, want []string, path, dir string) {
	before := state(t, dir)
	keys, sampled, err := Read(context.Background(), path, false)
	require.NoError(t, err)
	require.False(t, sampled)
	var got []string
	for _, key := range keys {
		got = append(got, string(key))
	}
	require.Equal(t, want, got)
	require.Equal(t, before, state(t, dir))
}

// All keys of a table or a database come sorted, once each, and nothing in its directory changes.
func TestDatabases(t *testing.T) {
	for _, name := range []string{"basic_snappy_4k", "multi_level", "versions", "binary_keys"} {
		tables, dir := golden(t, name), filepath.Join(root, name)
		for path, keys := range tables {
			requireKeys(t, keys, path, dir)
		}
		requireKeys(t, sorted(tables), dir, dir)
	}
}

// Of a database with too many keys comes a sample of whole tables, or of one table's first keys.
func TestSampledDatabase(t *testing.T) {
	const room = 1500
	tables := golden(t, "multi_level")
	keys, sampled, err := read(context.Background(), filepath.Join(root, "multi_level"), false,
		room*(sliceBytes+16))
	require.NoError(t, err)
	require.True(t, sampled)
	require.InDelta(t, room*3/4, len(keys), room/4)
	has := map[string]bool{}
	for _, key := range keys {
		has[string(key)] = true
	}
	whole, begun := 0, 0
	for _, keys := range tables {
		missing := slices.IndexFunc(keys, func(key string) bool { return !has[key] })
		if missing < 0 {
			whole++
		} else if missing > 0 {
			begun++
		}
	}
	require.Positive(t, whole)
	require.LessOrEqual(t, begun, 1)
	require.Subset(t, sorted(tables), slices.Collect(maps.Keys(has)))
}

// A database in use, beside a table that a killed process left unfinished, and one that it left
// whole: both are no part of the database.
func TestDatabaseInUse(t *testing.T) {
	dir := t.TempDir()
	db, err := pebble.Open(dir, &pebble.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	var want []string
	for i := range 3000 {
		want = append(want, fmt.Sprintf("key%06d", i))
		require.NoError(t, db.Set([]byte(want[i]), []byte("value"), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.Set([]byte("in the log"), nil, pebble.NoSync))
	other, err := os.ReadFile(filepath.Join(root, "one_key", "000005.ldb"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000998.sst"), other, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000999.sst"), other[:50], 0o600))
	requireKeys(t, want, dir, dir)
}

func TestNoDatabase(t *testing.T) {
	write := func(name string, content []byte) (path string) {
		path = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	table, err := os.ReadFile(filepath.Join(root, "one_key", "000005.ldb"))
	require.NoError(t, err)
	damaged := slices.Clone(table)
	damaged[3] ^= 1
	empty := t.TempDir()
	for path, message := range map[string]string{
		write("cut.ldb", table[:99]):               "do not end in a magic number", // its last bytes say nothing
		empty:                                      "no tables (.ldb, .sst)",
		filepath.Dir(write("000002.log", nil)):     "the data of a new database is all in its log",
		filepath.Dir(write("000005.ldb", damaged)): "000005.ldb: ",
		empty + "/none":                            "no such file",
	} {
		_, _, err := Read(context.Background(), path, false)
		require.ErrorContains(t, err, message)
	}

	// A table that is gone when its turn comes is left out.
	dir := filepath.Dir(write("000005.ldb", table))
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "000001.ldb")))
	keys, _, err := Read(context.Background(), dir, false)
	require.NoError(t, err)
	require.Len(t, keys, 1)
}

package keys

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..", "testdata", "leveldb", "tables")

// golden returns the keys of one of C++ LevelDB's databases, sorted, none twice. (Package ondisk reads
// the tables of other engines.)
func golden(t *testing.T, name string) (keys []string) {
	var golden struct {
		Tables []struct {
			UserKeys []string `json:"user_keys"`
		}
	}
	content, err := os.ReadFile(filepath.Join(root, name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &golden))
	for _, table := range golden.Tables {
		for _, digits := range table.UserKeys {
			key, err := hex.DecodeString(digits)
			require.NoError(t, err)
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// requireKeys reads a path whose directory must stay as it is.
func requireKeys(t *testing.T, want []string, path, dir string) {
	before := state(t, dir)
	keys, sampled, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.False(t, sampled)
	require.Equal(t, want, texts(keys))
	require.Equal(t, before, state(t, dir))
}

// state is what a reader could change in a directory.
func state(t *testing.T, dir string) (state []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		state = append(state, fmt.Sprint(e.Name(), info.Size(), info.Mode(), info.ModTime()))
	}
	return state
}

func texts(keys List) (all []string) {
	for _, key := range keys {
		all = append(all, string(key))
	}
	return all
}

func TestDatabases(t *testing.T) {
	for _, name := range []string{"basic_snappy_4k", "multi_level", "versions", "binary_keys"} {
		dir := filepath.Join(root, name)
		requireKeys(t, golden(t, name), dir, dir)
	}
	dir := filepath.Join(root, "one_key")
	requireKeys(t, golden(t, "one_key"), filepath.Join(dir, "000005.ldb"), dir)
}

// Of a database with too many keys comes a sample.
func TestSampledDatabase(t *testing.T) {
	const room = 1500
	keys, sampled, err := read(context.Background(), filepath.Join(root, "multi_level"),
		room*(sliceBytes+16))
	require.NoError(t, err)
	require.True(t, sampled)
	require.InDelta(t, room*3/4, len(keys), room/4)
	require.Subset(t, golden(t, "multi_level"), texts(keys))
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
	table, err := os.ReadFile(filepath.Join(root, "one_key", "000005.ldb"))
	require.NoError(t, err)
	damaged := slices.Clone(table)
	damaged[3] ^= 1
	for message, content := range map[string][]byte{
		"do not end in a magic number": table[:99], "000005.ldb: ": damaged, "no tables (.ldb, ": nil,
	} {
		path := t.TempDir()
		if content != nil {
			path = filepath.Join(path, "000005.ldb")
			require.NoError(t, os.WriteFile(path, content, 0o600))
		}
		_, _, err := Read(context.Background(), path)
		require.ErrorContains(t, err, message)
	}
}

package keylist

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

// testKeys are in several tables, the first 100 of them in all.
func testKeys() (sorted []string, tables [][]string) {
	for i := range 2000 {
		key := fmt.Sprintf("key%05d", i*3)
		sorted = append(sorted, key)
		if i%500 == 0 {
			tables = append(tables, append([]string{}, sorted[:min(len(sorted)-1, 100)]...))
		}
		tables[len(tables)-1] = append(tables[len(tables)-1], key)
	}
	return sorted, tables
}

// writeDatabase puts the keys of a table into a database of Pebble's and flushes them, table by table.
func writeDatabase(t *testing.T, dir string, tables [][]string) {
	db, err := pebble.Open(dir, &pebble.Options{
		FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, keys := range tables {
		for _, key := range keys {
			require.NoError(t, db.Set([]byte(key), []byte("value"), pebble.NoSync))
		}
		require.NoError(t, db.Flush())
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
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
	list, sampled, err := Read(path)
	require.NoError(t, err)
	require.False(t, sampled)
	var got []string
	for _, key := range list {
		got = append(got, string(key))
	}
	require.Equal(t, want, got)
	require.Equal(t, before, state(t, dir))
}

// All keys of a database come sorted, once each, and nothing in its directory changes. (Package
// ondisk reads the tables of other engines.)
func TestDatabase(t *testing.T) {
	sorted, tables := testKeys()
	dir := t.TempDir()
	writeDatabase(t, dir, tables)
	requireKeys(t, sorted, dir, dir)
}

// C++ LevelDB's databases, of which the golden files say which keys they have.
func TestGoldenDatabases(t *testing.T) {
	root := filepath.Join("..", "..", "..", "testdata", "leveldb", "tables")
	for _, name := range []string{"basic_snappy_4k", "multi_level", "versions", "binary_keys"} {
		var golden struct {
			Tables []struct {
				File     string
				UserKeys []string `json:"user_keys"`
			}
		}
		content, err := os.ReadFile(filepath.Join(root, name+".json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(content, &golden))
		dir, all := filepath.Join(root, name), map[string]bool{}
		for _, table := range golden.Tables {
			var keys []string
			for _, digits := range table.UserKeys {
				key, err := hex.DecodeString(digits)
				require.NoError(t, err)
				keys = append(keys, string(key))
				all[string(key)] = true
			}
			requireKeys(t, keys, filepath.Join(dir, table.File), dir)
		}
		requireKeys(t, sortedKeys(all), dir, dir)
	}
}

// Of a database with too many keys comes a sample of whole tables, or of one table's first keys.
func TestSampledDatabase(t *testing.T) {
	_, tables := testKeys()
	dir := t.TempDir()
	writeDatabase(t, dir, tables)
	list, sampled, err := read(dir, 700*(sliceBytes+8))
	require.NoError(t, err)
	require.True(t, sampled)
	require.InDelta(t, 600, len(list), 101)
	far := 0
	for i := range list[1:] {
		if number(t, list[i+1])-number(t, list[i]) != 3 {
			far++
		}
	}
	require.LessOrEqual(t, far, 2, "the others are neighbors")
}

func number(t *testing.T, key []byte) (n int) {
	_, err := fmt.Sscanf(string(key), "key%d", &n)
	require.NoError(t, err)
	return n
}

// A table that is gone when its turn comes is left out.
func TestDeletedTable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "000001.ldb")))
	golden := filepath.Join("..", "..", "..", "testdata", "leveldb", "tables", "one_key")
	table, err := os.ReadFile(filepath.Join(golden, "000005.ldb"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000005.ldb"), table, 0o600))
	list, _, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestNoDatabase(t *testing.T) {
	empty := t.TempDir()
	log := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(log, "000002.log"), nil, 0o600))
	damaged := t.TempDir()
	golden := filepath.Join("..", "..", "..", "testdata", "leveldb", "tables", "one_key")
	table, err := os.ReadFile(filepath.Join(golden, "000005.ldb"))
	require.NoError(t, err)
	table[3] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "000005.ldb"), table, 0o600))
	cut := filepath.Join(t.TempDir(), "cut.ldb") // whose last bytes do not say what it is
	require.NoError(t, os.WriteFile(cut, table[:99], 0o600))
	for path, message := range map[string]string{
		cut:             "do not end in a magic number",
		empty:           "no tables (.ldb, .sst) and no log: not a database",
		log:             "no tables yet: all its data is in the log (000002.log)",
		damaged:         "000005.ldb: ",
		empty + "/none": "no such file",
	} {
		_, _, err := Read(path)
		require.ErrorContains(t, err, message)
	}
}

package goleveldb_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
)

// These tests show faults of goleveldb that lose keys, with any filter or none: the log says how
// many. What .github/TESTING.md says to do against each one must help.

// goleveldb leaves batches of C++ LevelDB's log out. A database that C++ LevelDB has opened once
// more has an empty log.
func TestCppLog(t *testing.T) {
	program, content := buildCpp(t), entries{}
	for i := range 10_000 { // 6 MB: so C++ LevelDB writes a table, of 4 MB, while it takes others
		content[fmt.Sprintf("%08d", i)] = string(make([]byte, 600))
	}
	dir := filepath.Join(t.TempDir(), "db")
	program.write(t, dir, policy.Name, 10, content, "log")
	lost := func(dir string) (n int) {
		db, err := leveldb.OpenFile(dir, configured(t, nil, ribbon(t)))
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		for key, value := range content {
			if got, err := db.Get([]byte(key), nil); err != nil || string(got) != value {
				n++
			}
		}
		return n
	}
	former := filepath.Join(t.TempDir(), "former")
	require.NoError(t, os.CopyFS(former, os.DirFS(dir)))
	t.Logf("at once, goleveldb loses %d of %d keys", lost(former), len(content))
	program.read(t, dir, policy.Name, nil)
	require.Zero(t, lost(dir))
}

// Where a table has a damaged block, leveldb.Recover writes the rest of it anew, with filters of
// internal keys and a last index key that may not be one. CompactRange mends that.
func TestRecover(t *testing.T) {
	for name, o := range map[string]*opt.Options{
		"none":            {},
		"goleveldb's own": {Filter: filter.NewBloomFilter(10)},
		"bloom":           configured(t, nil, bloom(t, 10)),
		"ribbon":          configured(t, nil, ribbon(t)),
	} {
		o.DisableSeeksCompaction = true
		stor := storage.NewMemStorage()
		db, err := leveldb.Open(stor, o)
		require.NoError(t, err)
		for i := range 2000 {
			require.NoError(t, db.Put(fmt.Appendf(nil, "%08d", 7*i), make([]byte, 50), nil))
		}
		require.NoError(t, db.Close())
		db, err = leveldb.Open(stor, o) // it writes a table of what is in the log
		require.NoError(t, err)
		require.NoError(t, db.Close())
		damageFirstBlock(t, stor)
		db, err = leveldb.Recover(stor, o)
		require.NoError(t, err)
		left, missed, panics := look(t, db)
		require.Greater(t, left, 1000, name)
		t.Logf("%s: of %d keys that are left, lookups miss %d and panic for %d", name, left, missed,
			panics)
		require.NoError(t, db.CompactRange(util.Range{}))
		after, missed, panics := look(t, db)
		require.Equal(t, []int{left, 0, 0}, []int{after, missed, panics}, name)
		require.NoError(t, db.Close())
	}
}

// damageFirstBlock damages the first block of the only table, and removes the manifest.
func damageFirstBlock(t *testing.T, stor storage.Storage) {
	files, err := stor.List(storage.TypeManifest | storage.TypeTable)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		if f.Type == storage.TypeManifest {
			require.NoError(t, stor.Remove(f))
			continue
		}
		r, err := stor.Open(f)
		require.NoError(t, err)
		table, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		copy(table[100:], "XXXX")
		w, err := stor.Create(f)
		require.NoError(t, err)
		_, err = io.Copy(w, bytes.NewReader(table))
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
}

// look looks up all keys that an iterator finds.
func look(t *testing.T, db *leveldb.DB) (left, missed, panics int) {
	has := func(key []byte) (has bool, err error) {
		defer func() {
			if recover() != nil {
				panics++
				has = true
			}
		}()
		return db.Has(key, nil)
	}
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		found, err := has(it.Key())
		require.NoError(t, err)
		if left++; !found {
			missed++
		}
	}
	require.NoError(t, it.Error())
	return left, missed, panics
}

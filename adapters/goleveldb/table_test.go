package goleveldb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/sstable"
)

// In every stored table of C++ LevelDB and goleveldb, package sstable finds the entries that
// goleveldb's reader finds.
func TestTablesOfOtherPrograms(t *testing.T) {
	testdata := filepath.Join("..", "..", "testdata")
	cpp, err := filepath.Glob(filepath.Join(testdata, "leveldb", "tables", "*", "*.ldb"))
	require.NoError(t, err)
	others, err := filepath.Glob(filepath.Join(testdata, "goleveldb", "*", "*.ldb"))
	require.NoError(t, err)
	require.Greater(t, len(cpp), 20)
	require.Greater(t, len(others), 6)
	for _, path := range append(cpp, others...) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		ours, err := sstable.OpenTable(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err, path)
		r, err := table.NewReader(bytes.NewReader(data), int64(len(data)),
			storage.FileDesc{Type: storage.TypeTable, Num: 2}, nil, nil, nil)
		require.NoError(t, err, path)
		theirs := r.NewIterator(nil, nil)
		for e, err := range ours.Entries() {
			require.NoError(t, err, path)
			require.True(t, theirs.Next(), path)
			user := theirs.Key()
			if !strings.Contains(path, "raw_tablebuilder") { // whose keys have no trailer
				user = user[:len(user)-8]
			}
			same := bytes.Equal(theirs.Key(), e.Stored) && bytes.Equal(theirs.Value(), e.Value) &&
				bytes.Equal(user, e.Key)
			require.True(t, same, "%s: %x", path, e.Stored)
		}
		require.False(t, theirs.Next(), path)
		require.NoError(t, theirs.Error(), path)
		theirs.Release()
	}
}

// goleveldb's table without keys has a data block all the same, and with small windows an empty
// filter for it: package sstable takes that for sound.
func TestTableWithoutKeys(t *testing.T) {
	for baseLg := 1; baseLg <= 11; baseLg++ {
		var file bytes.Buffer
		o := &opt.Options{Filter: goleveldb.New(bloom(t, 10)), FilterBaseLg: baseLg}
		require.NoError(t, table.NewWriter(&file, o, nil, 0).Close())
		opened, err := sstable.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		require.Equal(t, 1, opened.Blocks())
		_, err = opened.OpenFilter(opened.Filters()[0])
		require.NoError(t, err, "base_lg %d", baseLg)
	}
}

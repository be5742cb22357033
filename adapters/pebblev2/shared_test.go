package pebblev2_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// sharing returns options of a database that writes its tables to shared storage.
func sharing(t testing.TB, storage remote.Storage, p policy.Policy) *pebble.Options {
	o := resting(configured(t, small(pebble.FormatNewest), p, pebblev2.WithL6(p)))
	o.Experimental.RemoteStorage = remote.MakeSimpleFactory(
		map[remote.Locator]remote.Storage{"": storage})
	o.Experimental.CreateOnShared = remote.CreateOnSharedAll
	return o
}

// Tables on shared storage have filters, which are asked there.
func TestSharedTables(t *testing.T) {
	for name, storage := range map[string]remote.Storage{
		"in memory": remote.NewInMem(), "local": remote.NewLocalFS(t.TempDir(), vfs.Default),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			keys := policytest.Keys(policytest.Rand(t, 105), 2000)
			p := policy.Count(bloom(t, 10))
			db := open(t, dir, sharing(t, storage, p))
			require.NoError(t, db.SetCreatorID(1))
			put(t, db, keys[:1000])
			compact(t, db)
			put(t, db, keys[1000:])
			require.NoError(t, db.Close())

			db = open(t, dir, sharing(t, storage, p))
			info, err := db.SSTables(pebble.WithProperties())
			require.NoError(t, err)
			for _, level := range []int{0, 6} {
				require.NotEmpty(t, info[level])
				for _, table := range info[level] {
					require.Equal(t, pebble.BackingTypeShared, table.BackingType)
					require.Equal(t, policy.Name, table.Properties.FilterPolicyName)
				}
			}
			before := p.Snapshot()
			requireFound(t, db, keys)
			requireCounts(t, db, p.Snapshot().Sub(before))
			require.NoError(t, db.Close())
		})
	}
}

// Tables that another program wrote to remote storage, with our filters, are ingested in place.
// Pebble turns them into virtual tables with the given bounds.
func TestExternalTables(t *testing.T) {
	storage := remote.NewInMem()
	dir := t.TempDir()
	keys := sorted(under('k', policytest.Keys(policytest.Rand(t, 106), 1000)))
	p := policy.Count(bloom(t, 10))
	db := open(t, filepath.Join(dir, "db"), sharing(t, storage, p))
	require.NoError(t, db.SetCreatorID(1))
	path := filepath.Join(dir, "table")
	writeTable(t, path, tableFormat(db), pebblev2.New(p), keys)
	size := upload(t, vfs.Default, storage, path, "external")
	ingestExternal(t, db, "external", size, []byte("k"), []byte("l"))

	info, err := db.SSTables()
	require.NoError(t, err)
	require.Len(t, info[6], 1)
	require.Equal(t, pebble.BackingTypeExternal, info[6][0].BackingType)
	require.True(t, info[6][0].Virtual)
	require.Equal(t, virtualFilter, virtual(t, db))

	before := p.Snapshot()
	require.Zero(t, lostBySeek(t, db, keys))
	absent := append(bytes.Clone(keys[0]), "absent"...)
	for i := range byte(100) {
		require.Equal(t, 1, lostBySeek(t, db, [][]byte{append(absent, i)}))
	}
	asked := p.Snapshot().Sub(before)
	requireCounts(t, db, asked)
	require.GreaterOrEqual(t, asked.MayContain, uint64(len(keys)))
	require.Greater(t, asked.ReadsAvoided, uint64(80))
	require.NoError(t, db.Close())
}

// virtual returns what FiltersOnDisk reports of the only table of L6.
func virtual(t testing.TB, db *pebble.DB) pebblev2.LevelFilters {
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	return levels[6]
}

// upload copies a file to remote storage and returns its size.
func upload(t testing.TB, fs vfs.FS, storage remote.Storage, path, name string) uint64 {
	var content bytes.Buffer
	file, err := fs.Open(path)
	require.NoError(t, err)
	_, err = content.ReadFrom(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	w, err := storage.CreateObject(name)
	require.NoError(t, err)
	_, err = w.Write(content.Bytes())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return uint64(content.Len())
}

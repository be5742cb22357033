package goleveldb_test

import (
	"encoding/binary"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// With the settings of README.md's example, lookups of absent keys write nothing and make at most
// 0.01 reads, in a database of 1,000,000 keys that is larger than goleveldb's default caches.
func TestReadmeSettings(t *testing.T) {
	testkit.Large(t) // writes a gigabyte
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	setting := func(pattern string) int {
		found := regexp.MustCompile(pattern).FindSubmatch(readme)
		require.NotNil(t, found, pattern)
		n, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		return n
	}
	require.Contains(t, string(readme), "o.DisableSeeksCompaction = true\n")
	o := configured(t, &opt.Options{
		BlockCacheCapacity:     setting(`\bBlockCacheCapacity: +(\d+) << 20\b`) << 20,
		OpenFilesCacheCapacity: setting(`\bOpenFilesCacheCapacity: +(\d+)\b`),
		DisableSeeksCompaction: true,
	}, ribbon(t))
	dir := t.TempDir()
	fillMillion(t, dir, *o)
	absent := testkit.Keys(testkit.Rand(t, 143), 100_000) // no multiples of 1<<44
	files, err := storage.OpenFile(dir, true)
	require.NoError(t, err)
	needed := blockSizes(t, files)
	require.NoError(t, files.Close())
	require.Greater(t, needed, opt.DefaultBlockCacheCapacity)
	require.LessOrEqual(t, 2*needed, o.BlockCacheCapacity)

	db := open(t, dir, o)
	r, err := goleveldb.CheckCache(o, db)
	require.NoError(t, err)
	require.Greater(t, r.Tables, opt.DefaultOpenFilesCacheCapacity)
	require.LessOrEqual(t, r.Tables, r.OpenFiles)
	read, written := misses(t, db, absent)
	t.Logf("%.1f bytes read per absent key, filters and indexes have %d: %v", read, needed, r)
	require.LessOrEqual(t, read, nearlyNothing)
	require.Zero(t, written)
	require.NoError(t, db.Close())
}

// fillMillion writes 1,000,000 keys in order, multiples of 1<<44, and then some of them again, so
// that tables overlap.
func fillMillion(t testing.TB, dir string, o opt.Options) {
	const n = 1_000_000
	o.NoSync = true
	o.WriteBuffer = 3 << 20 // most tables are moved, not merged, and then 2 MiB large too
	rng := rand.New(rand.NewSource(144))
	value := make([]byte, 1080)
	var batch leveldb.Batch
	db := open(t, dir, &o)
	put := func(i int) {
		rng.Read(value) // does not compress
		batch.Put(binary.BigEndian.AppendUint64(nil, uint64(i)<<44), value)
		if batch.Len() == 1000 {
			require.NoError(t, db.Write(&batch, nil))
			batch.Reset()
		}
	}
	for i := range n {
		put(i)
	}
	for range n / 50 {
		put(rng.Intn(n / 10))
	}
	settle(t, db, &o)
	require.NoError(t, db.Close())
}

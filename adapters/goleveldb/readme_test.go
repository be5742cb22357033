package goleveldb_test

import (
	"encoding/binary"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// With the settings of README.md's example, lookups of absent keys write nothing and make at most
// 0.01 reads, in a database of 1,000,000 keys that is larger than goleveldb's default caches.
// CheckCache names each setting that is left out.
func TestReadmeSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a gigabyte")
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	setting := func(pattern string) int {
		found := regexp.MustCompile(pattern).FindSubmatch(readme)
		require.NotNil(t, found, pattern)
		n, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		return n
	}
	require.Contains(t, string(readme),
		"goleveldb.Configure(o, p, goleveldb.WithoutSeekCompactions())")
	o := configured(t, &opt.Options{
		BlockCacheCapacity:     setting(`\bBlockCacheCapacity: +(\d+) << 20\b`) << 20,
		OpenFilesCacheCapacity: setting(`\bOpenFilesCacheCapacity: +(\d+)\b`),
	}, ribbon(t), goleveldb.WithoutSeekCompactions())
	dir := t.TempDir()
	fill := *o
	fill.NoSync = true
	fill.WriteBuffer = 3 << 20 // most tables are moved, not merged, and then 2 MiB large too
	fillMillion(t, dir, &fill)
	absent := enginetest.Keys(enginetest.Rand(t, 143), 100_000) // no multiples of 1<<44

	// lookUp returns what lookups of absent keys read and write, in bytes per key.
	lookUp := func(o *opt.Options) (r goleveldb.CacheReport, read, written float64) {
		db := open(t, dir, o)
		defer db.Close()
		r, err := goleveldb.CheckCache(o, db)
		require.NoError(t, err)
		requireAbsent(t, db, absent[:len(absent)/2]) // fills the caches
		var before, after leveldb.DBStats
		require.NoError(t, db.Stats(&before))
		requireAbsent(t, db, absent[len(absent)/2:])
		require.NoError(t, db.Stats(&after))
		per := float64(len(absent) / 2)
		read = float64(after.IORead-before.IORead) / per
		written = float64(after.IOWrite-before.IOWrite) / per
		t.Logf("%.1f bytes read, %.1f written per absent key: %v", read, written, r)
		return r, read, written
	}
	r, read, written := lookUp(o)
	require.True(t, r.Fits())
	require.Greater(t, r.Tables, opt.DefaultOpenFilesCacheCapacity)
	require.Greater(t, r.Filters+r.Indexes, uint64(opt.DefaultBlockCacheCapacity))
	mostRead := 0.01 * float64(o.GetBlockSize()) // blocks of data are larger, if anything
	require.LessOrEqual(t, read, mostRead)
	require.Zero(t, written)

	const files, cache, seeks = "set Options.OpenFilesCacheCapacity",
		"set Options.BlockCacheCapacity", "pass WithoutSeekCompactions()"
	leftOut := func(setting string, leaveOut func(*opt.Options)) (read, written float64) {
		without := *o
		leaveOut(&without)
		r, read, written := lookUp(&without)
		require.False(t, r.Fits())
		for _, s := range []string{files, cache, seeks} {
			require.Equal(t, s == setting, strings.Contains(r.String(), s), s)
		}
		return read, written
	}
	leftOut(files, func(o *opt.Options) { o.OpenFilesCacheCapacity = 0 })
	read, _ = leftOut(cache, func(o *opt.Options) { o.BlockCacheCapacity = 0 })
	require.Greater(t, read, mostRead)
	_, written = leftOut(seeks, func(o *opt.Options) { o.DisableSeeksCompaction = false })
	require.Positive(t, written)
}

// fillMillion writes 1,000,000 keys in order, multiples of 1<<44, and then some of them again, so
// that tables overlap.
func fillMillion(t testing.TB, dir string, o *opt.Options) {
	const n = 1_000_000
	rng := rand.New(rand.NewSource(144))
	value := make([]byte, 1080)
	var batch leveldb.Batch
	db := open(t, dir, o)
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
	settle(t, db, o)
	require.NoError(t, db.Close())
}

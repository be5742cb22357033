package tables

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// writeLevelDB has goleveldb write a table of n keys in blocks of 1 KiB. It returns its path.
func writeLevelDB(t testing.TB, o opt.Options, n int) string {
	o.BlockSize, o.Compression = 1<<10, opt.NoCompression
	var b bytes.Buffer
	w := table.NewWriter(&b, &o, nil, 0)
	for i := range n {
		require.NoError(t, w.Append(fmt.Appendf(nil, "key%05d", i), make([]byte, 20)))
	}
	require.NoError(t, w.Close())
	return writeFile(t, b.Bytes())
}

// Each key has the filter of its block's window, and filters are read by the policy's name.
func TestLevelDB(t *testing.T) {
	const n = 500
	for _, c := range []struct {
		name   string
		baseLg int
		known  bool
	}{
		{policy.Name, 9, true},
		{policy.NameGoLevelDB, 11, true},
		{"mine.1", 20, true}, // as Open is told
		{"mine", 11, false},
	} {
		p := testkit.Must(policy.NewBloom(10, policy.WithName(c.name)))
		path := writeLevelDB(t, opt.Options{Filter: goleveldb.New(p), FilterBaseLg: c.baseLg}, n)
		table := openTable(t, path, "theirs", "mine.*")
		info := *table.Info()
		require.Equal(t, c.known, info.MayContain != nil, c.name)
		size := 0
		for _, filter := range info.Each {
			size += len(filter)
		}
		require.Positive(t, info.IndexBytes)
		want := Filters{Policy: c.name, Layout: "window", BaseLg: c.baseLg, Each: info.Each,
			Bytes: int64(size + 4*len(info.Each) + 5)}
		info.MayContain, info.Parse = nil, nil // functions are not comparable
		require.Equal(t, Info{Format: "LevelDB", Size: int64(len(readFile(t, path))),
			IndexBytes: info.IndexBytes, Filters: &want}, info)
		keys, filters := entries(t, table)
		require.Len(t, keys, n)
		for i, key := range keys {
			require.True(t, policy.MayContain(info.Each[filters[i]], []byte(key)))
		}
		require.Len(t, info.Each, filters[n-1]+1)
		table.Info().Each = nil // as if the filters had ended before
		_, filters = entries(t, table)
		require.Equal(t, -1, filters[0])
	}
	table := openTable(t, writeLevelDB(t, opt.Options{}, n))
	require.Nil(t, table.Info().Filters)
	_, filters := entries(t, table)
	require.Greater(t, filters[n-1], 5, "windows that filters would have")
}

func TestFiltersOf(t *testing.T) {
	for name, want := range map[string]bool{
		policy.Name: true, policy.NameGoLevelDB: true, "a": true, "b.1": true, "b/1": false,
		"[": false, "rocksdb.BuiltinBloomFilter": false, // which is known in Pebble's tables
	} {
		patterns := []string{"[", "a", "b*"}
		require.Equal(t, want, IsOurs(name, patterns), name)
		require.Equal(t, want, filtersOf(name, patterns, false).Parse != nil, name)
	}
}

func TestLevelDBDamagedFilter(t *testing.T) {
	o := opt.Options{Filter: goleveldb.New(testkit.Must(policy.NewBloom(10)))}
	path := writeLevelDB(t, o, 1)
	damaged := readFile(t, path)
	damaged[bytes.Index(damaged, []byte("filter."))-12] ^= 1 // the block before its name
	require.NoError(t, os.WriteFile(path, damaged, 0o600))
	_, err := Open(path, Options{})
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
}

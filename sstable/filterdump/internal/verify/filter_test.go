package tables

import (
	"bytes"
	"testing"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"
)

// Filters under Pebble's name that Pebble does not write verify nothing, and deny no key. RocksDB
// writes them for the same name: a negative number of probes marks its newer kinds.
func TestForeignPebbleFilters(t *testing.T) {
	f := filtersOf("rocksdb.BuiltinBloomFilter", nil, true)
	for _, c := range []struct {
		filter string
		valid  bool
	}{
		{"\x00\x00\x00\x00\x00", true}, // of no keys
		{string(make([]byte, 64)) + "\x06\x01\x00\x00\x00", true},
		{string(make([]byte, 128)) + "\x1e\x01\x00\x00\x00", true}, // lines of another processor
		{"\x00\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\x06\x00\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\x06\x03\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\x1f\x01\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\xff\x01\x00\x00\x00", false}, // FastLocalBloom
		{string(make([]byte, 64)) + "\xfe\x00\x00\x00\x00", false}, // ribbon
	} {
		encoding, err := f.Parse([]byte(c.filter))
		require.Equal(t, "Pebble Bloom", encoding)
		require.Equal(t, c.valid, err == nil, "%q: %v", c.filter, err)
		require.Equal(t, !c.valid, f.MayContain([]byte(c.filter), []byte("key")), "%q", c.filter)
	}
}

// A table by itself ends where its file does. One of a database ends where the manifest says, and
// more may follow.
func TestSizes(t *testing.T) {
	for _, table := range [][]byte{
		readFile(t, "../../../../testdata/leveldb/tables/one_key/000005.ldb"),
		readFile(t, writePebble(t, pebblesst.TableFormatMax, ownFilter, nil, false)),
	} {
		n := int64(len(table))
		for _, c := range []struct {
			file []byte
			size int64
			want error
		}{
			{table, 0, nil},
			{table, n, nil},
			{table, n + 1, ErrNoEnd},
			{table, n - 1, ErrNoEnd},
			{append(bytes.Clone(table), 0), n, nil},
			{append(bytes.Clone(table), 0), 0, ErrUnsupported},
			{append(bytes.Clone(table), make([]byte, 1<<20)...), 0, ErrUnsupported},
			{append(bytes.Clone(table), table...), n, nil},
			{append(bytes.Clone(table), table[:n-1]...), 2*n - 1, ErrNoEnd},
			{table[:n-1], 0, ErrNoEnd},
		} {
			path := writeFile(t, c.file)
			opened, err := Open(path, Options{Size: c.size})
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.want == nil, err == nil)
			if err == nil {
				require.NoError(t, opened.Keys(func(int, []byte) {}))
				require.NoError(t, opened.Close())
			}
		}
	}
}

package goleveldb_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

func openTable(t testing.TB, data []byte, o *opt.Options) *table.Reader {
	r, err := table.NewReader(
		bytes.NewReader(data),
		int64(len(data)),
		storage.FileDesc{Type: storage.TypeTable, Num: 1},
		nil,
		nil,
		o,
	)
	require.NoError(t, err)
	return r
}

// keysOf returns all keys of a table.
func keysOf(t testing.TB, r *table.Reader) (keys [][]byte) {
	it := r.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		keys = append(keys, bytes.Clone(it.Key()))
	}
	require.NoError(t, it.Error())
	return keys
}

// requireFilters finds every key of a table through its filter, and checks that each filter has the
// very bytes that ofWindow gives for all keys of its window, which the offsets of the data blocks
// tell. It returns the number of filters.
func requireFilters(
	t testing.TB,
	r *table.Reader,
	asked *spy,
	baseLg int,
	keys [][]byte,
	ofWindow func(window [][]byte) []byte,
) int {
	windows := map[int64][][]byte{}
	for _, key := range keys {
		offset, err := r.OffsetOf(key)
		require.NoError(t, err)
		windows[offset>>baseLg] = append(windows[offset>>baseLg], key)
	}
	for _, window := range windows {
		want := ofWindow(window)
		for _, key := range window {
			var got []byte
			asked.saw = func(filter, _ []byte, _ bool) { got = bytes.Clone(filter) }
			found, _, err := r.Find(key, true, nil)
			require.NoError(t, err, "key %x", key)
			require.Equal(t, key, found)
			require.Equal(t, want, got)
		}
	}
	asked.saw = nil
	return len(windows)
}

// Tables made and read without a database have plain keys.
func TestTable(t *testing.T) {
	all := policytest.Keys(policytest.Rand(t, 9), 8000)
	present, absent := all[:4000], all[4000:]
	slices.SortFunc(present, bytes.Compare)
	for _, c := range []struct {
		baseLg, filters int
		compression     opt.Compression
	}{
		// The keys alone, 4000 of 24 bytes on average and random, fill 46 windows of 2 KiB or 1.5
		// of 64 KiB.
		{11, 46, opt.NoCompression},
		{11, 46, opt.SnappyCompression},
		{16, 2, opt.NoCompression},
		{16, 2, opt.SnappyCompression},
	} {
		t.Run(fmt.Sprintf("base %d, %v", c.baseLg, c.compression), func(t *testing.T) {
			p := bloom(t, 10)
			asked := &spy{Policy: p}
			o := configured(
				t,
				&opt.Options{FilterBaseLg: c.baseLg, Compression: c.compression},
				asked,
			)
			var file bytes.Buffer
			w := table.NewWriter(&file, o, nil, 0)
			for i, key := range present {
				require.NoError(
					t,
					w.Append(
						key,
						[]byte(fmt.Sprintf("a value of some length, number %0*d", i%20, i)),
					),
				)
			}
			require.NoError(t, w.Close())

			r := openTable(t, file.Bytes(), o)
			defer r.Release()
			filters := requireFilters(t, r, asked, c.baseLg, present, func(window [][]byte) []byte {
				return p.AppendFilter(nil, window)
			})
			require.GreaterOrEqual(t, filters, c.filters)
			require.EqualValues(t, len(present), asked.asked.Load())
			require.Zero(t, asked.absent.Load())

			// Find looks for the next key where the filter does not avoid the read.
			avoided := 0
			for _, key := range absent {
				if _, _, err := r.Find(key, true, nil); err == table.ErrNotFound {
					avoided++
				}
			}
			require.Greater(t, avoided, len(absent)*97/100)
			require.Less(t, avoided, len(absent), "so few bits cannot avoid all")

			asked.lies = true
			for _, key := range present {
				_, _, err := r.Find(key, true, nil)
				require.ErrorIs(t, err, table.ErrNotFound)
			}
		})
	}
}

// readTables returns the tables of a database that is closed.
func readTables(t testing.TB, dir string) (files [][]byte) {
	names, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		files = append(files, data)
	}
	return files
}

// A table that goleveldb wrote with no policy, or with one of another name, is read without
// filters.
func TestTableWithoutOurFilter(t *testing.T) {
	keys := policytest.Keys(policytest.Rand(t, 12), 500)
	slices.SortFunc(keys, bytes.Compare)
	for _, writer := range []*opt.Options{
		{},
		configured(t, nil, bloom(t, 10, policy.WithName("another"))),
	} {
		var file bytes.Buffer
		w := table.NewWriter(&file, writer, nil, 0)
		for _, key := range keys {
			require.NoError(t, w.Append(key, nil))
		}
		require.NoError(t, w.Close())

		liar := &spy{Policy: bloom(t, 10), lies: true}
		r := openTable(t, file.Bytes(), configured(t, nil, liar))
		for _, key := range keys {
			_, _, err := r.Find(key, true, nil)
			require.NoError(t, err)
		}
		require.Zero(t, liar.asked.Load())
		r.Release()
	}
}

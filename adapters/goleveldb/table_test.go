package goleveldb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

func openTable(t testing.TB, data []byte, o *opt.Options) *table.Reader {
	r, err := table.NewReader(bytes.NewReader(data), int64(len(data)),
		storage.FileDesc{Type: storage.TypeTable, Num: 1}, nil, nil, o)
	require.NoError(t, err)
	return r
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

// requireFilters finds every key of a table through its filter. It requires that each filter is
// what q's policy builds of the keys of its window, to which the offsets of their data blocks
// assign them. o must have q's filter. requireFilters returns all keys.
func requireFilters(
	t testing.TB, data []byte, o *opt.Options, q *enginetest.Spy,
) (keys [][]byte) {
	r := openTable(t, data, o)
	defer r.Release()
	// The filter block ends with its base, and is followed by 5 bytes of trailer and the metaindex
	// block, whose offset begins the footer of 48 bytes.
	metaindex, _ := binary.Uvarint(data[len(data)-48:])
	baseLg := data[metaindex-5-1]

	windows := map[int64][][]byte{}
	it := r.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		key := bytes.Clone(it.Key())
		keys = append(keys, key)
		offset, err := r.OffsetOf(key)
		require.NoError(t, err)
		windows[offset>>baseLg] = append(windows[offset>>baseLg], key)
	}
	require.NoError(t, it.Error())
	for _, window := range windows {
		builder := q.Policy.NewBuilder()
		for _, key := range window {
			builder.Add(userKey(key))
		}
		want := builder.Finish(nil)
		for _, key := range window {
			q.Saw = func(filter []byte, _ bool) { require.Equal(t, want, filter) }
			found, _, err := r.Find(key, true, nil)
			require.NoError(t, err, "key %x", key)
			require.Equal(t, key, found)
		}
	}
	q.Saw = nil
	require.EqualValues(t, len(keys), q.Checked.Load())
	require.Zero(t, q.Absent.Load())
	return keys
}

// manyVersions fills a database, all in level 0, with many versions of some keys. Some are
// deletions.
func manyVersions(t testing.TB, dir string, o *opt.Options) {
	db := open(t, dir, o)
	rng := enginetest.Rand(t, 10)
	rare, often := enginetest.Keys(rng, 3000), append(enginetest.Keys(rng, 50), nil)
	for i := range 9000 { // a flush keeps all versions
		key := rare[rng.Intn(len(rare))]
		if i%3 > 0 {
			key = often[rng.Intn(len(often))] // the empty key too
		}
		if rng.Intn(5) == 0 {
			require.NoError(t, db.Delete(key, nil))
		} else {
			require.NoError(t, db.Put(key, fmt.Appendf(nil, "value %d", i), nil))
		}
	}
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close()) // replays the log: everything is in tables now
}

// backwardsComparer sorts keys in the opposite order.
type backwardsComparer struct{}

func (backwardsComparer) Name() string                    { return "backwards" }
func (backwardsComparer) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (backwardsComparer) Separator(_, _, _ []byte) []byte { return nil }
func (backwardsComparer) Successor(_, _ []byte) []byte    { return nil }

// A tool reads and writes a database's own tables. Filters count each version of a key, and each
// deletion.
func TestTableOptionsOnDatabase(t *testing.T) {
	for _, order := range []comparer.Comparer{comparer.DefaultComparer, backwardsComparer{}} {
		t.Run(order.Name(), func(t *testing.T) {
			dir := t.TempDir()
			p := bloom(t, 10)
			o := level0Only()
			o.Comparer = order
			o = configured(t, o, p)
			manyVersions(t, dir, o)

			entries, repeated := 0, 0
			for _, data := range readTables(t, dir) {
				q := &enginetest.Spy{Policy: p}
				spied := *o
				spied.Filter = goleveldb.New(q)
				tool := goleveldb.TableOptions(&spied)
				keys := requireFilters(t, data, tool, q)
				entries += len(keys)

				// Find and Seek find the newest version of each key, which comes first.
				r := openTable(t, data, tool)
				it := r.NewIterator(nil, nil)
				for i, key := range keys {
					k, err := goleveldb.ParseInternalKey(key)
					require.NoError(t, err)
					require.Equal(t, userKey(key), k.User)
					if i > 0 {
						require.Negative(t, tool.Comparer.Compare(keys[i-1], key))
						if bytes.Equal(userKey(keys[i-1]), k.User) {
							repeated++
							continue
						}
					}
					found, value, err := r.Find(goleveldb.SearchKey(k.User), true, nil)
					require.NoError(t, err)
					require.Equal(t, key, found)
					require.Equal(t, k.Deleted, len(value) == 0)
					require.True(t, it.Seek(goleveldb.SearchKey(k.User)))
					require.Equal(t, key, it.Key())
				}

				// The same entries give the same file, with the same index block.
				var file bytes.Buffer
				w := table.NewWriter(&file, tool, nil, 0)
				for more := it.First(); more; more = it.Next() {
					require.NoError(t, w.Append(it.Key(), it.Value()))
				}
				require.NoError(t, w.Close())
				require.Equal(t, data, file.Bytes())
				it.Release()
				r.Release()
			}
			require.Equal(t, 9000, entries)
			require.Greater(t, repeated, 1000)
		})
	}
}

func TestTableOptions(t *testing.T) {
	theirs := filter.NewBloomFilter(10)
	o := &opt.Options{
		Filter:       foreign("a"),
		AltFilters:   []filter.Filter{theirs, foreign("b")},
		BlockSize:    123,
		FilterBaseLg: 14,
	}
	before := *o
	tool := goleveldb.TableOptions(o)
	require.Equal(t, before, *o)
	require.Equal(t, []filter.Filter{theirs, foreign("b")}, o.AltFilters,
		"its memory is not shared")
	require.Equal(t, goleveldb.ForInternalKeys(foreign("a")), tool.Filter)
	require.Equal(t, []filter.Filter{
		goleveldb.ForInternalKeys(theirs), goleveldb.ForInternalKeys(foreign("b")),
	}, tool.AltFilters)
	require.Equal(t, comparer.DefaultComparer.Name(), tool.Comparer.Name())
	require.Equal(t, 123, tool.BlockSize)
	require.Equal(t, 14, tool.FilterBaseLg)

	tool = goleveldb.TableOptions(nil)
	require.Nil(t, tool.Filter)
	require.Empty(t, tool.AltFilters)
	require.Positive(t,
		tool.Comparer.Compare(goleveldb.SearchKey([]byte("b")), goleveldb.SearchKey([]byte("a"))))
}

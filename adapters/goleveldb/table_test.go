package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// backwardsComparer sorts keys in the opposite order.
type backwardsComparer struct{}

func (backwardsComparer) Name() string                    { return "backwards" }
func (backwardsComparer) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (backwardsComparer) Separator(_, _, _ []byte) []byte { return nil }
func (backwardsComparer) Successor(_, _ []byte) []byte    { return nil }

// A tool reads a database's own table, with several versions of keys and deletions, through its
// filter, and writes the same one.
func TestTableOptionsOnDatabase(t *testing.T) {
	for _, order := range []comparer.Comparer{comparer.DefaultComparer, backwardsComparer{}} {
		t.Run(order.Name(), func(t *testing.T) {
			o := level0Only()
			o.Comparer, o.WriteBuffer = order, 1<<20
			o = configured(t, o, bloom(t, 10))
			s := storage.NewMemStorage()
			db, err := leveldb.Open(s, o)
			require.NoError(t, err)
			rng := enginetest.Rand(t, 10)
			users := append(enginetest.Keys(rng, 500), nil) // the empty key too
			for i := range 2000 {
				user := users[rng.Intn(len(users))]
				if i%5 == 0 {
					require.NoError(t, db.Delete(user, nil))
				} else {
					require.NoError(t, db.Put(user, fmt.Appendf(nil, "value %d", i), nil))
				}
			}
			settle(t, db, o)
			require.NoError(t, db.Close())
			data := onlyTable(t, s)

			tool := goleveldb.TableOptions(o)
			r, err := table.NewReader(bytes.NewReader(data), int64(len(data)),
				storage.FileDesc{Type: storage.TypeTable}, nil, nil, tool)
			require.NoError(t, err)
			defer r.Release()
			var file bytes.Buffer
			w := table.NewWriter(&file, tool, nil, 0)
			it, seeker := r.NewIterator(nil, nil), r.NewIterator(nil, nil)
			defer it.Release()
			defer seeker.Release()
			var before []byte
			entries := 0
			for ; it.Next(); entries++ {
				key := bytes.Clone(it.Key())
				k, err := goleveldb.ParseInternalKey(key)
				require.NoError(t, err)
				require.Equal(t, k.Deleted, len(it.Value()) == 0)
				require.NoError(t, w.Append(key, it.Value()))
				if entries > 0 {
					require.Negative(t, tool.Comparer.Compare(before, key))
				}
				if entries == 0 || !bytes.Equal(before[:len(before)-8], k.User) { // the newest
					found, _, err := r.Find(goleveldb.SearchKey(k.User), true, nil)
					require.NoError(t, err)
					require.Equal(t, key, found)
					require.True(t, seeker.Seek(goleveldb.SearchKey(k.User)))
					require.Equal(t, key, seeker.Key())
				}
				before = key
			}
			require.Equal(t, 2000, entries)
			require.NoError(t, w.Close())
			require.Equal(t, data, file.Bytes())
		})
	}
}

// onlyTable returns the bytes of the only table of a database.
func onlyTable(t testing.TB, s storage.Storage) []byte {
	tables, err := s.List(storage.TypeTable)
	require.NoError(t, err)
	require.Len(t, tables, 1)
	file, err := s.Open(tables[0])
	require.NoError(t, err)
	var data bytes.Buffer
	_, err = data.ReadFrom(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return data.Bytes()
}

package goleveldb_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// written is what a database's tables have of a key: its last value, and how many versions.
type written struct {
	value    string
	deleted  bool
	versions int
}

// manyVersions fills a database, all in level 0, with many versions of some keys. Some are
// deletions.
func manyVersions(t testing.TB, dir string, o *opt.Options) map[string]written {
	db := open(t, dir, o)
	rng := policytest.Rand(t, 10)
	last := map[string]written{}
	keys := append(policytest.Keys(rng, 3000), nil) // the empty key too
	for i := range 50 {
		keys = append(keys, []byte(fmt.Sprintf("key%d", i)))
	}
	for i := range 9000 { // a flush keeps all versions
		key := keys[rng.Intn(len(keys))]
		if i%3 > 0 {
			key = keys[len(keys)-1-rng.Intn(50)]
		}
		w := last[string(key)]
		w.versions++
		if w.deleted = rng.Intn(5) == 0; w.deleted {
			w.value = ""
			require.NoError(t, db.Delete(key, nil))
		} else {
			w.value = fmt.Sprintf("value %d", i)
			require.NoError(t, db.Put(key, []byte(w.value), nil))
		}
		last[string(key)] = w
	}
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close()) // replays the log: everything is in tables now
	return last
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
			last := manyVersions(t, dir, o)

			entries, repeated := 0, 0
			newest := map[string]goleveldb.InternalKey{}
			values := map[string]string{}
			for _, data := range readTables(t, dir) {
				asked := &spy{Policy: p}
				spied := *o
				spied.Filter = goleveldb.New(asked)
				tool := goleveldb.TableOptions(&spied)

				// The user's keys are in order, and newer versions of a key come first.
				r := openTable(t, data, tool)
				keys := keysOf(t, r)
				entries += len(keys)
				firsts := map[string]goleveldb.InternalKey{}
				var previous goleveldb.InternalKey
				for i, key := range keys {
					k, err := goleveldb.ParseInternalKey(key)
					require.NoError(t, err)
					if i > 0 {
						c := order.Compare(previous.User, k.User)
						require.LessOrEqual(t, c, 0)
						if c == 0 {
							require.Greater(t, previous.Sequence, k.Sequence)
						}
					}
					previous = k
					if _, seen := firsts[string(k.User)]; !seen {
						firsts[string(k.User)] = k
					}
				}

				// Every entry is found by its own key, and the filters are what the policy builds.
				requireFilters(t, r, asked, 11, keys, func(window [][]byte) []byte {
					var users [][]byte
					for _, key := range window {
						users = append(users, userKey(key))
					}
					distinct := slices.CompactFunc(slices.Clone(users), bytes.Equal)
					repeated += len(users) - len(distinct)
					return p.AppendFilter(nil, users)
				})
				require.EqualValues(t, len(keys), asked.asked.Load())
				require.Zero(t, asked.absent.Load())

				// Find and Seek find the newest version of each key.
				it := r.NewIterator(nil, nil)
				for user, first := range firsts {
					found, value, err := r.Find(goleveldb.SearchKey([]byte(user)), true, nil)
					require.NoError(t, err, "key %x", user)
					k, err := goleveldb.ParseInternalKey(found)
					require.NoError(t, err)
					require.Equal(t, first, k)
					require.True(t, it.Seek(goleveldb.SearchKey([]byte(user))))
					require.Equal(t, found, it.Key())
					if k.Sequence >= newest[user].Sequence {
						newest[user], values[user] = k, string(value)
					}
				}
				it.Release()

				// The same entries give the same file, with the same index block.
				require.Equal(t, data, copyTable(t, r, tool))
				r.Release()
			}

			require.Greater(t, repeated, 100,
				"the data should have several versions of a key in one window")
			total := 0
			for user, w := range last {
				total += w.versions
				require.Equal(t, user, string(newest[user].User))
				require.Equal(t, w.deleted, newest[user].Deleted, "key %x", user)
				require.Equal(t, w.value, values[user], "key %x", user)
			}
			require.Len(t, newest, len(last))
			require.Equal(t, total, entries)
		})
	}
}

// copyTable writes all entries of a table into another one.
func copyTable(t testing.TB, r *table.Reader, o *opt.Options) []byte {
	var file bytes.Buffer
	w := table.NewWriter(&file, o, nil, 0)
	it := r.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		require.NoError(t, w.Append(it.Key(), it.Value()))
	}
	require.NoError(t, it.Error())
	require.NoError(t, w.Close())
	return file.Bytes()
}

// The bare filter loses nearly every key of a database's table.
func TestBareFilterOnDatabaseTable(t *testing.T) {
	dir := t.TempDir()
	o := configured(t, level0Only(), bloom(t, 10))
	manyVersions(t, dir, o)
	for _, data := range readTables(t, dir) {
		bare := goleveldb.TableOptions(o)
		bare.Filter = o.Filter
		r := openTable(t, data, bare)
		keys := keysOf(t, r)
		lost := 0
		for _, key := range keys {
			if _, _, err := r.Find(key, true, nil); err == table.ErrNotFound {
				lost++
			}
		}
		r.Release()
		require.Greater(t, lost, len(keys)*9/10)
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

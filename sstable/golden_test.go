package sstable_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// golden is what is known of one directory that C++ LevelDB wrote; testdata/leveldb/README.md has
// the fields.
type golden struct {
	DB      string `json:"db"`
	Options struct {
		BitsPerKey any `json:"bits_per_key"` // a number, null, or "a/b/..." by table
	} `json:"options"`
	FilterPolicy *string                  `json:"filter_policy"`
	Tables       []policytest.GoldenTable `json:"tables"`
}

// bits returns the bits per key of table i of a directory, 0 if it has no filter.
func (g golden) bits(t *testing.T, i int) float64 {
	switch bits := g.Options.BitsPerKey.(type) {
	case float64:
		return bits
	case string: // "3 / 20 / none, in file order"
		list, ok := strings.CutSuffix(bits, ", in file order")
		require.True(t, ok, bits)
		one := strings.Split(list, " / ")[i]
		if one == "none" {
			return 0
		}
		n, err := strconv.Atoi(one)
		require.NoError(t, err)
		return float64(n)
	}
	if g.DB == "raw_tablebuilder" && g.Tables[i].HasFilter {
		return 10 // it records no options
	}
	return 0
}

// Both ways to open a table: the format of its keys is told, or found.
func openBothWays(t *testing.T, path string, format sstable.KeyFormat,
	f func(t *testing.T, table *sstable.Table, data []byte)) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, format := range map[string]sstable.KeyFormat{"keys told": format,
		"keys found": sstable.AutoKeys} {
		t.Run(name, func(t *testing.T) {
			table := openTable(t, data, sstable.WithKeys(format), sstable.WithFileName(path))
			f(t, table, data)
		})
	}
}

// requireRebuilt makes the table's filter block anew from its keys and the offsets of its blocks,
// and finds each key in it.
func requireRebuilt(t *testing.T, table *sstable.Table, bits float64, f sstable.FilterEntry) {
	require.False(t, f.Whole)
	block, err := table.ReadBlock(f.Handle)
	require.NoError(t, err)
	p := policytest.Must(policy.NewBloom(bits, policy.WithName(f.Policy)))
	r := sstable.NewFilterBlockReader(p, block)
	require.NoError(t, r.Validate())

	b, err := sstable.NewFilterBlockBuilder(p, sstable.WithBaseLg(r.BaseLg()))
	require.NoError(t, err)
	b.StartBlock(0)
	started := -1
	for e, err := range table.Entries() {
		require.NoError(t, err)
		if e.Block != started {
			started = e.Block
			b.StartBlock(table.Block(started).Offset)
		}
		b.AddKey(e.Key)
	}
	if started >= 0 {
		last := table.Block(started)
		b.StartBlock(last.Offset + last.Length + 5)
	}
	require.True(t, bytes.Equal(block, b.Finish()), "the filter block comes out otherwise")

	filter, err := table.Filter(p)
	require.NoError(t, err)
	for e, err := range table.Entries() {
		require.NoError(t, err)
		require.True(t, filter.MayContain(e.Key), "key %x", e.Key)
		require.True(t, filter.MayContainAt(table.Block(e.Block).Offset, e.Key), "key %x", e.Key)
		require.True(t, r.MayContain(table.Block(e.Block).Offset, e.Key), "key %x", e.Key)
	}
}

// All tables of C++ LevelDB: entries, keys, filter blocks, and the answers of its filters.
func TestGoldenLevelDB(t *testing.T) {
	dir := filepath.Join("..", "testdata", "leveldb", "tables")
	sidecars, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	tables, filters, answered, unanswered := 0, 0, 0, 0
	for _, sidecar := range sidecars {
		data, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(data, &g))
		for i, want := range g.Tables {
			tables++
			format, users := sstable.InternalKeys, want.UserKeys
			if g.DB == "raw_tablebuilder" {
				format, users = sstable.PlainKeys, want.Keys
			}
			t.Run(g.DB+"/"+want.File, func(t *testing.T) {
				path := filepath.Join(dir, g.DB, want.File)
				openBothWays(t, path, format, func(t *testing.T, table *sstable.Table, b []byte) {
					require.Len(t, b, want.Size)
					require.Equal(t, format, table.Keys())
					entries, deletions := 0, 0
					var keys []string // distinct ones
					for e, err := range table.Entries() {
						require.NoError(t, err)
						entries++
						if len(keys) == 0 || keys[len(keys)-1] != string(e.Key) {
							keys = append(keys, string(e.Key))
						}
						if format == sstable.InternalKeys && e.Stored[len(e.Stored)-8] == 0 {
							deletions++
						}
					}
					require.Equal(t, want.Entries, entries)
					require.Equal(t, want.Deletions, deletions)
					require.Equal(t, len(users), len(keys))
					for i, user := range users {
						require.Equal(t, string(user), keys[i])
					}

					bits := g.bits(t, i)
					if bits == 0 {
						require.Empty(t, table.Filters())
						require.Empty(t, table.Metaindex())
					} else {
						require.Len(t, table.Filters(), 1)
						require.Equal(t, *g.FilterPolicy, table.Filters()[0].Policy)
						requireRebuilt(t, table, bits, table.Filters()[0])
						filters++
					}

					filter, err := table.Filter(policytest.Must(policy.NewBloom(10)))
					require.Equal(t, want.FilterConsulted || want.HasFilter, err == nil, "%v",
						err)
					if err != nil {
						require.ErrorIs(t, err, sstable.ErrNoFilter)
					}
					for _, p := range want.Probes {
						switch {
						case p.MayMatch != nil:
							require.Equal(t, *p.MayMatch, filter.MayContain(p.Key), "key %x",
								p.Key)
							answered++
						case p.Why == "no_filter":
							require.Nil(t, filter)
							unanswered++
						default:
							below := bytes.Compare(p.Key, users[0]) < 0
							above := bytes.Compare(p.Key, users[len(users)-1]) > 0
							require.True(t, below || above, "key %x", p.Key)
							unanswered++
						}
					}
				})
			})
		}
	}
	require.Equal(t, []int{25, 2 * 22}, []int{tables, filters})
	require.Equal(t, []int{2 * 29726, 2 * 10274}, []int{answered, unanswered})
}

// All databases of goleveldb, read by its own reader too.
func TestGoldenGoLevelDB(t *testing.T) {
	dir := filepath.Join("..", "testdata", "goleveldb")
	for _, c := range []struct {
		db, policy string // "": no filter
		bits       float64
		baseLg     int
	}{
		{"default_snappy", policy.NameGoLevelDB, 10, 11},
		{"name2_snappy", policy.Name, 10, 11},
		{"name2_none_1k", policy.Name, 10, 11},
		{"name2_large", policy.Name, 10, 11},
		{"name2_bits20", policy.Name, 20, 11},
		{"name2_baselg13", policy.Name, 10, 13},
		{"nofilter", "", 0, 0},
	} {
		t.Run(c.db, func(t *testing.T) {
			path, format := filepath.Join(dir, c.db, "000002.ldb"), sstable.InternalKeys
			openBothWays(t, path, format, func(t *testing.T, ours *sstable.Table, data []byte) {
				require.Equal(t, sstable.InternalKeys, ours.Keys())
				r, err := table.NewReader(bytes.NewReader(data), int64(len(data)),
					storage.FileDesc{Type: storage.TypeTable, Num: 2}, nil, nil, nil)
				require.NoError(t, err)
				theirs := r.NewIterator(nil, nil)
				defer theirs.Release()
				entries := 0
				for e, err := range ours.Entries() {
					require.NoError(t, err)
					require.True(t, theirs.Next())
					require.True(t, bytes.Equal(theirs.Key(), e.Stored), "entry %d", entries)
					require.True(t, bytes.Equal(theirs.Key()[:len(theirs.Key())-8], e.Key),
						"entry %d", entries)
					require.True(t, bytes.Equal(theirs.Value(), e.Value), "entry %d", entries)
					entries++
				}
				require.False(t, theirs.Next())
				require.NoError(t, theirs.Error())
				require.Positive(t, entries)

				if c.policy == "" {
					require.Empty(t, ours.Filters())
					return
				}
				require.Len(t, ours.Filters(), 1)
				f := ours.Filters()[0]
				require.Equal(t, c.policy, f.Policy)
				requireRebuilt(t, ours, c.bits, f)
				block, err := ours.ReadBlock(f.Handle)
				require.NoError(t, err)
				require.Equal(t, byte(c.baseLg), block[len(block)-1])
			})
		})
	}
}

// RocksDB's tables: those of format_version 0 are in LevelDB's format, with one filter for the
// whole table.
func TestGoldenRocksDB(t *testing.T) {
	dir := filepath.Join("..", "testdata", "rocksdb")
	for _, c := range []struct {
		file   string
		format sstable.Format
		filter string
	}{
		{"fv0_full_bloom.sst", sstable.FormatLevelDB, "rocksdb.BuiltinBloomFilter"},
		{"fv0_blockbased_legacy.sst", sstable.FormatLevelDB, "rocksdb.BuiltinBloomFilter"},
		{"fv0_nofilter.sst", sstable.FormatLevelDB, ""},
		{"fv2_full_bloom.sst", sstable.FormatRocksDB, ""},
		{"fv5_full_bloom.sst", sstable.FormatRocksDB, ""},
		{"fv5_ribbon.sst", sstable.FormatRocksDB, ""},
		{"db/000009.sst", sstable.FormatRocksDB, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join(dir, c.file)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			format, err := sstable.Identify(bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			require.Equal(t, c.format, format)
			if format != sstable.FormatLevelDB {
				_, err := sstable.OpenTable(bytes.NewReader(data), int64(len(data)),
					sstable.WithFileName(path))
				require.EqualError(t, err,
					path+": a table in RocksDB block-based format, not in LevelDB's")
				return
			}
			keys := sstable.InternalKeys
			openBothWays(t, path, keys, func(t *testing.T, table *sstable.Table, data []byte) {
				require.Equal(t, sstable.InternalKeys, table.Keys())
				n := 0
				for e, err := range table.Entries() {
					require.NoError(t, err)
					require.Equal(t, fmt.Sprintf("key%06d", 2*n), string(e.Key))
					require.Equal(t, fmt.Sprintf("value%d", n), string(e.Value))
					n++
				}
				require.Equal(t, 500, n)

				filters := table.Filters()
				if c.filter == "" {
					require.Empty(t, filters)
				} else {
					require.Len(t, filters, 1)
					require.Equal(t, c.filter, filters[0].Policy)
					require.True(t, filters[0].Whole)
				}
				properties := map[string]string{}
				for _, m := range table.Metaindex() {
					if m.Name == "rocksdb.properties" {
						for e, err := range table.MetaEntries(m.Handle) {
							require.NoError(t, err)
							properties[string(e.Key)] = string(e.Value)
						}
					}
				}
				require.Equal(t, "leveldb.BytewiseComparator", properties["rocksdb.comparator"])
				require.Equal(t, string(binary.AppendUvarint(nil, 500)),
					properties["rocksdb.num.entries"])
			})
		})
	}
}

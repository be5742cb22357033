package sstable_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
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

// openBothWays opens a table with the format of its keys, and with AutoKeys.
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

// requireRebuilt builds the table's filter block anew from its keys and the offsets of its blocks,
// finds each key in it, and returns its base_lg.
func requireRebuilt(t *testing.T, table *sstable.Table, bits float64) int {
	entry := table.Filters()[0]
	p := policytest.Must(policy.NewBloom(bits, policy.WithName(entry.Policy)))
	block, err := table.ReadBlock(entry.Handle)
	require.NoError(t, err)
	filter, err := openFilter(table, p)
	require.NoError(t, err)
	baseLg := filter.Windows().BaseLg()
	b, err := sstable.NewFilterBlockBuilder(p, sstable.WithBaseLg(baseLg))
	require.NoError(t, err)
	b.StartBlock(0)
	started, end := -1, uint64(0)
	for e, err := range table.Entries() {
		require.NoError(t, err)
		h := table.Block(e.Block)
		if e.Block != started {
			started, end = e.Block, h.Offset+h.Length+5
			b.StartBlock(h.Offset)
		}
		b.AddKey(e.Key)
		if !filter.MayContain(e.Key) || !filter.MayContainAt(h.Offset, e.Key) {
			t.Fatalf("the filter does not know key %x", e.Key)
		}
	}
	if started >= 0 {
		b.StartBlock(end)
	}
	require.True(t, bytes.Equal(block, b.Finish()), "the filter block comes out otherwise")
	return baseLg
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
					} else {
						require.Len(t, table.Filters(), 1)
						require.Equal(t, *g.FilterPolicy, table.Filters()[0].Policy)
						requireRebuilt(t, table, bits)
						filters++
					}

					filter, err := openFilter(table, policytest.Must(policy.NewBloom(10)))
					require.Equal(t, want.FilterConsulted || want.HasFilter, err == nil, "%v",
						err)
					for _, p := range want.Probes {
						switch {
						case p.MayMatch != nil:
							require.Equal(t, *p.MayMatch, filter.MayContain(p.Key), "key %x", p.Key)
							answered++
							continue
						case p.Why == "no_filter":
							require.Nil(t, filter)
						default:
							outside := bytes.Compare(p.Key, users[0]) < 0 ||
								bytes.Compare(p.Key, users[len(users)-1]) > 0
							require.True(t, outside, "key %x", p.Key)
						}
						unanswered++
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
		path := filepath.Join("..", "testdata", "goleveldb", c.db, "000002.ldb")
		read := func(t *testing.T, ours *sstable.Table, data []byte) {
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
				if !bytes.Equal(theirs.Key(), e.Stored) || !bytes.Equal(theirs.Value(), e.Value) ||
					!bytes.Equal(theirs.Key()[:len(theirs.Key())-8], e.Key) {
					t.Fatalf("entry %d is %x", entries, e.Stored)
				}
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
			require.Equal(t, c.policy, ours.Filters()[0].Policy)
			require.Equal(t, c.baseLg, requireRebuilt(t, ours, c.bits))
		}
		t.Run(c.db, func(t *testing.T) { openBothWays(t, path, sstable.InternalKeys, read) })
	}
}

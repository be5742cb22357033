package sstable_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// goldenTable opens a table that another program wrote, and returns it with the number of its
// entries. That these are what goleveldb reads, TestTablesOfOtherPrograms of its adapter checks.
func goldenTable(t *testing.T, path string) (*sstable.Table, int) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	table := openTable(t, data, sstable.WithFileName(path))
	n := 0
	for _, err := range table.Entries() {
		require.NoError(t, err)
		n++
	}
	return table, n
}

// requireRebuilt builds the table's only filter block anew, from its keys and the offsets of its
// blocks, and finds each key in it.
func requireRebuilt(
	t *testing.T, table *sstable.Table, name string, bits float64, baseLg int,
) *sstable.TableFilter {
	require.Len(t, table.Filters(), 1)
	require.Equal(t, name, table.Filters()[0].Policy)
	p := testkit.Must(policy.NewBloom(bits, policy.WithName(name)))
	block, err := table.ReadBlock(table.Filters()[0].Handle)
	require.NoError(t, err)
	block = bytes.Clone(block)
	filter, err := openFilter(table, p)
	require.NoError(t, err)
	require.Equal(t, baseLg, filter.Windows().BaseLg())
	b, err := sstable.NewFilterBlockBuilder(p.NewBuilder, baseLg)
	require.NoError(t, err)
	started, end := -1, uint64(0)
	for e, err := range table.Entries() {
		require.NoError(t, err)
		h := table.Block(e.Block)
		if e.Block != started {
			started, end = e.Block, h.Offset+h.Length+5
			b.StartBlock(h.Offset)
		}
		b.AddKey(e.Key)
		if !filter.MayContain(e.Key) || !filter.Windows().MayContain(h.Offset, e.Key) {
			t.Fatalf("the filter does not know key %x", e.Key)
		}
	}
	b.StartBlock(end)
	require.True(t, bytes.Equal(block, b.Finish()), "the filter block comes out otherwise")
	return filter
}

// All tables of C++ LevelDB: entries, filter blocks, and the answers of its filters.
// testdata/leveldb/README.md has the fields of the files beside them.
func TestGoldenLevelDB(t *testing.T) {
	dir := filepath.Join("..", "testdata", "leveldb", "tables")
	sidecars, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	bits := map[string][]float64{ // by table, 0 without filters; in other directories 10
		"binary_keys": {14}, "mixed_bits": {3, 20, 0}, "no_filter": {0},
	}
	tables, answered := 0, 0
	for _, sidecar := range sidecars {
		data, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		var g struct {
			DB           string
			FilterPolicy string `json:"filter_policy"`
			Tables       []struct {
				File      string
				Entries   int
				HasFilter bool    `json:"has_filter"`
				Probes    [][]any // key, answer or null, reason
			}
		}
		require.NoError(t, json.Unmarshal(data, &g))
		for i, want := range g.Tables {
			internal, perKey := g.DB != "raw_tablebuilder", 10.0
			if list := bits[g.DB]; list != nil {
				perKey = list[i]
			}
			tables++
			table, n := goldenTable(t, filepath.Join(dir, g.DB, want.File))
			require.Equal(t, want.Entries, n)
			if perKey == 0 || !internal && !want.HasFilter {
				require.Empty(t, table.Filters())
				continue
			}
			filter := requireRebuilt(t, table, g.FilterPolicy, perKey, 11)
			for _, p := range want.Probes {
				if may, ok := p[1].(bool); ok {
					key, err := hex.DecodeString(p[0].(string))
					require.NoError(t, err)
					require.Equal(t, may, filter.MayContain(key), "key %x", key)
					answered++
				}
			}
		}
	}
	require.Equal(t, []int{25, 29726}, []int{tables, answered})
}

// All databases of goleveldb.
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
		table, n := goldenTable(t, path)
		require.Positive(t, n)
		if c.policy == "" {
			require.Empty(t, table.Filters())
		} else {
			requireRebuilt(t, table, c.policy, c.bits, c.baseLg)
		}
	}
}

package sstable_test

import (
	"bytes"
	"cmp"
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

// requireGolden opens a table that another program wrote, and builds its only filter block anew:
// from its keys, which must match their filters, and from the offsets of its blocks. With 0 bits it
// must have none. That the entries are what goleveldb reads, TestTablesOfOtherPrograms of its
// adapter checks.
func requireGolden(
	t *testing.T, path, name string, bits float64, baseLg int,
) (filter *sstable.TableFilter, entries int) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	table := openTable(t, data, sstable.WithFileName(path))
	if bits > 0 {
		require.Len(t, table.Filters(), 1)
		require.Equal(t, name, table.Filters()[0].Policy)
		filter, err = table.OpenFilter(table.Filters()[0])
		require.NoError(t, err)
		require.Equal(t, baseLg, filter.Windows().BaseLg())
	}
	p := testkit.Must(policy.NewBloom(cmp.Or(bits, 10)))
	b := testkit.Must(sstable.NewFilterBlockBuilder(p.NewBuilder, baseLg))
	end := uint64(0)
	for e, err := range table.Entries() {
		require.NoError(t, err)
		h := table.Block(e.Block)
		b.StartBlock(h.Offset)
		b.AddKey(e.Key)
		end = h.Offset + h.Length + 5
		if bits > 0 {
			may := filter.MayContain(e.Key) && filter.Windows().MayContain(h.Offset, e.Key)
			require.True(t, may, "the filter does not know key %x", e.Key)
		}
		entries++
	}
	b.StartBlock(end)
	if bits == 0 {
		require.Empty(t, table.Filters())
	} else {
		h := table.Filters()[0].Handle
		same := bytes.Equal(data[h.Offset:][:h.Length], b.Finish())
		require.True(t, same, "the filter block of %s comes out otherwise", path)
	}
	return filter, entries
}

// All tables of C++ LevelDB: entries, filter blocks, and the answers of its filters.
// testdata/leveldb/README.md says what is in the files beside them.
func TestGoldenLevelDB(t *testing.T) {
	dir := filepath.Join("..", "testdata", "leveldb", "tables")
	sidecars, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	bits := map[string]float64{"binary_keys/000005.ldb": 14, "mixed_bits/000005.ldb": 3,
		"mixed_bits/000010.ldb": 20, "mixed_bits/000015.ldb": 0, "no_filter/000005.ldb": 0,
		"raw_tablebuilder/nofilter_empty.ldb": 0} // otherwise 10
	tables, answered := 0, 0
	for _, sidecar := range sidecars {
		data, err := os.ReadFile(sidecar)
		require.NoError(t, err)
		var g struct {
			DB           string
			FilterPolicy string `json:"filter_policy"`
			Tables       []struct {
				File    string
				Entries int
				Probes  [][]any // key, answer or null, reason
			}
		}
		require.NoError(t, json.Unmarshal(data, &g))
		for _, want := range g.Tables {
			file := g.DB + "/" + want.File
			perKey, isOther := bits[file]
			if !isOther {
				perKey = 10
			}
			filter, n := requireGolden(t, filepath.Join(dir, file), g.FilterPolicy, perKey, 11)
			require.Equal(t, want.Entries, n)
			tables++
			for _, p := range want.Probes {
				if may, ok := p[1].(bool); ok && filter != nil {
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

// Tables of goleveldb, also with other windows.
func TestGoldenGoLevelDB(t *testing.T) {
	for db, c := range map[string]struct {
		policy string
		bits   float64 // 0: no filter
		baseLg int
	}{
		"default_snappy": {policy.NameGoLevelDB, 10, 11},
		"name2_bits20":   {policy.NameLevelDB, 20, 11},
		"name2_baselg13": {policy.NameLevelDB, 10, 13},
		"nofilter":       {"", 0, 11},
	} {
		path := filepath.Join("..", "testdata", "goleveldb", db, "000002.ldb")
		_, n := requireGolden(t, path, c.policy, c.bits, c.baseLg)
		require.Positive(t, n)
	}
}

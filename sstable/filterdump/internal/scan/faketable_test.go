package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// seeded returns random numbers from a fixed seed, which it prints if the test fails.
func seeded(t testing.TB, seed uint64) *rand.Rand {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// A fakeTable is a table in memory. Its keys ascend, but where a test has others.
type fakeTable struct {
	info   tables.Info
	blocks []fakeBlock
	err    error // of Keys, after the entries
}

type fakeBlock struct {
	filter int
	keys   [][]byte
}

func (t *fakeTable) Info() *tables.Info { return &t.info }
func (t *fakeTable) Close() error       { return nil }

func (t *fakeTable) Keys(f func(filter int, key []byte) error) error {
	var reused []byte
	for _, b := range t.blocks {
		for _, key := range b.keys {
			reused = append(reused[:0], key...)
			if err := f(b.filter, reused); err != nil {
				return err
			}
			for i := range reused { // who keeps the memory sees it change
				reused[i] = 0xaa
			}
		}
	}
	return t.err
}

func (t *fakeTable) Seek([]byte) ([]byte, int, error)  { return nil, 0, nil }
func (t *fakeTable) Window([]byte, func([]byte)) error { return nil }

func (t *fakeTable) Locate(key []byte) int {
	i := sort.Search(len(t.blocks), func(i int) bool {
		keys := t.blocks[i].keys
		return bytes.Compare(keys[len(keys)-1], key) >= 0
	})
	if i == len(t.blocks) {
		return -1
	}
	return t.blocks[i].filter
}

// wholeTable has one filter for all keys.
func wholeTable(keys [][]byte, bitsPerKey float64) *fakeTable {
	return wholeTableOf(policytest.Must(policy.NewBloom(bitsPerKey)).AppendFilter(nil, keys), keys)
}

func wholeTableOf(filter []byte, keys [][]byte) *fakeTable {
	return &fakeTable{
		info: tables.Info{Format: "Pebble v4", Filters: &tables.Filters{
			Policy: policy.Name, Layout: tables.PerTable, Bytes: int64(len(filter)),
			Reader: tables.LevelDBFilters, Each: [][]byte{filter},
		}},
		blocks: []fakeBlock{{0, keys}},
	}
}

// windowTable has the filter block that LevelDB makes of keys with values of 100 bytes in blocks of
// 4,096 bytes, for windows of 2,048.
func windowTable(keys [][]byte, bitsPerKey float64) *fakeTable {
	return windowTableOf(policytest.Must(policy.NewBloom(bitsPerKey)), keys, 4096, 11)
}

func windowTableOf(p policy.Policy, keys [][]byte, blockSize, baseLg int) *fakeTable {
	builder := policytest.Must(sstable.NewFilterBlockBuilder(p, sstable.WithBaseLg(baseLg)))
	table := &fakeTable{}
	offset := 0
	for builder.StartBlock(0); len(keys) > 0; builder.StartBlock(uint64(offset)) {
		block := fakeBlock{filter: offset >> baseLg}
		for size := 0; len(keys) > 0 && size < blockSize; keys = keys[1:] {
			builder.AddKey(keys[0])
			block.keys = append(block.keys, keys[0])
			size += len(keys[0]) + 100
			offset += len(keys[0]) + 100
		}
		table.blocks = append(table.blocks, block)
	}
	bytes := builder.Finish()
	reader := policytest.Must(sstable.NewFilterBlockReader(p, bytes))
	table.info.Filters = &tables.Filters{
		Policy: policy.NameGoLevelDB, Layout: tables.PerWindow, BaseLg: baseLg,
		Bytes: int64(len(bytes)), Reader: tables.LevelDBFilters,
	}
	for i := range reader.NumFilters() {
		table.info.Each = append(table.info.Each, reader.Filter(i))
	}
	return table
}

// exact is a reader of filters without chance: a filter is the list of its keys.
type exact struct{}

func (exact) filter(keys ...string) (filter []byte) {
	for _, key := range keys {
		filter = binary.AppendUvarint(filter, uint64(len(key)))
		filter = append(filter, key...)
	}
	return filter
}

func (exact) MayContain(filter, key []byte) bool {
	for len(filter) > 0 {
		n, width := binary.Uvarint(filter)
		if bytes.Equal(filter[width:width+int(n)], key) {
			return true
		}
		filter = filter[width+int(n):]
	}
	return false
}

func (exact) Parse([]byte) (string, error) { return "exact", nil }

// exactTable has blocks of these keys, each with an exact filter of its own.
func exactTable(blocks ...[]string) *fakeTable {
	t := &fakeTable{
		info: tables.Info{
			Format:  "LevelDB",
			Filters: &tables.Filters{Policy: "exact", Reader: exact{}, Layout: tables.PerWindow, BaseLg: 11},
		},
	}
	f := t.info.Filters
	for i, keys := range blocks {
		b := fakeBlock{filter: i}
		for _, key := range keys {
			b.keys = append(b.keys, []byte(key))
		}
		t.blocks = append(t.blocks, b)
		f.Each = append(f.Each, exact{}.filter(keys...))
		f.Bytes += int64(len(f.Each[i])) + 4
	}
	return t
}

// numbered returns n keys: a random part of the numbers from first on.
func numbered(rng *rand.Rand, format string, first, n int, part float64) (keys [][]byte) {
	for i := first; len(keys) < n; i++ {
		if rng.Float64() < part {
			keys = append(keys, fmt.Appendf(nil, format, i))
		}
	}
	return keys
}

func surveyOf(t testing.TB, table tables.Table) *Report {
	r, err := verify(table, NewSample(All))
	require.NoError(t, err)
	return r
}

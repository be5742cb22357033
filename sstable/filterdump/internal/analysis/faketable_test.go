package analysis

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
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

func mustBloom(t testing.TB, bitsPerKey float64) *policy.Bloom {
	bloom, err := policy.NewBloom(bitsPerKey)
	require.NoError(t, err)
	return bloom
}

func mustRibbon(t testing.TB, bitsPerKey float64) *policy.Ribbon {
	ribbon, err := policy.NewRibbon(bitsPerKey)
	require.NoError(t, err)
	return ribbon
}

// A fakeTable is a table in memory. Its keys ascend, but where a test has others.
type fakeTable struct {
	info   tables.Info
	blocks []fakeBlock
	err    error // of Keys, behind the entries
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

func (t *fakeTable) Locate(key []byte) int {
	i := sort.Search(
		len(t.blocks),
		func(i int) bool {
			return bytes.Compare(t.blocks[i].keys[len(t.blocks[i].keys)-1],
				key) >= 0
		},
	)
	if i == len(t.blocks) {
		return -1
	}
	return t.blocks[i].filter
}

// wholeTable has one filter for all keys.
func wholeTable(t testing.TB, keys [][]byte, bitsPerKey float64) *fakeTable {
	return wholeTableOf(mustBloom(t, bitsPerKey).AppendFilter(nil, keys), keys)
}

func wholeTableOf(filter []byte, keys [][]byte) *fakeTable {
	return &fakeTable{
		info: tables.Info{Format: "Pebble v4", Filters: &tables.Filters{
			Policy: policy.Name, Reader: filters.LevelDB, Bytes: int64(len(filter)),
			Each: [][]byte{filter},
		}},
		blocks: []fakeBlock{{0, keys}},
	}
}

// windowTable has the filter block that LevelDB makes of keys with values of 100 bytes in blocks of
// blockSize: StartBlock with the offset of each block and of the end makes the filters of all
// windows before it.
func windowTable(
	t testing.TB,
	keys [][]byte,
	bitsPerKey float64,
	blockSize, baseLg int,
) *fakeTable {
	return windowTableOf(mustBloom(t, bitsPerKey), keys, blockSize, baseLg)
}

func windowTableOf(p policy.Policy, keys [][]byte, blockSize, baseLg int) *fakeTable {
	table := &fakeTable{info: tables.Info{Format: "LevelDB"}}
	filters := &tables.Filters{
		Policy:    policy.NameGoLevelDB,
		Reader:    filters.LevelDB,
		PerWindow: true,
		BaseLg:    baseLg,
	}
	builder := p.NewBuilder()
	generate := func() {
		var filter []byte
		if builder.Len() > 0 {
			filter = builder.Finish(nil)
		}
		filters.Each = append(filters.Each, filter)
		filters.Bytes += int64(len(filter)) + 4
	}
	offset := 0
	startBlock := func() {
		for offset>>baseLg > len(filters.Each) {
			generate()
		}
	}
	startBlock()
	for len(keys) > 0 {
		size, n := 0, 0
		for n < len(keys) && size < blockSize {
			builder.Add(keys[n])
			size += len(keys[n]) + 100
			n++
		}
		table.blocks = append(table.blocks, fakeBlock{offset >> baseLg, keys[:n]})
		keys = keys[n:]
		offset += size
		startBlock()
	}
	if builder.Len() > 0 {
		generate()
	}
	filters.Bytes += 5
	table.info.Filters = filters
	return table
}

// ask answers as a lookup of key finds it.
func (t *fakeTable) ask(key []byte) (asked, may bool) {
	filter := t.Locate(key)
	if filter < 0 {
		return false, false
	}
	f := t.info.Filters
	return true, f.Reader.MayContain(f.Each[filter], key)
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

// Parse gives no probes: such an encoding has none.
func (exact) Parse([]byte) (string, filters.Info, error) { return "exact", filters.Info{}, nil }

// exactTable has blocks of these keys, each with an exact filter of its own.
func exactTable(blocks ...[]string) *fakeTable {
	t := &fakeTable{
		info: tables.Info{
			Format:  "LevelDB",
			Filters: &tables.Filters{Policy: "exact", Reader: exact{}, PerWindow: true, BaseLg: 11},
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

// A keySet is the keys of a part of a range of numbers.
type keySet struct {
	format          string
	present, absent [][]byte // ascending
}

// numbered returns the keys of a random part of the numbers from first on, as many as make n keys.
func numbered(rng *rand.Rand, format string, first, n int, part float64) (s keySet) {
	s.format = format
	for i := first; len(s.present) < n; i++ {
		key := fmt.Appendf(nil, format, i)
		if len(s.present) == 0 || rng.Float64() < part {
			s.present = append(s.present, key)
		} else {
			s.absent = append(s.absent, key)
		}
	}
	last := s.present[len(s.present)-1]
	s.absent = slices.DeleteFunc(s.absent,
		func(key []byte) bool { return bytes.Compare(key, last) > 0 })
	return s
}

func analyze(t testing.TB, table tables.Table, verifyOnly bool) *Report {
	r, err := Analyze(context.Background(), table, verifyOnly)
	require.NoError(t, err)
	return r
}

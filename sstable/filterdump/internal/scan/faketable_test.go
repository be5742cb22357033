package scan

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// A fakeTable is a table in memory.
type fakeTable struct {
	tables.Table
	info   tables.Info
	blocks []fakeBlock
	err    error // of Keys, after the entries
}

type fakeBlock struct {
	filter int
	keys   []string
}

func (t *fakeTable) Info() *tables.Info { return &t.info }

func (t *fakeTable) Keys(f func(filter int, key []byte) error) error {
	var reused []byte
	for _, b := range t.blocks {
		for _, key := range b.keys {
			reused = append(reused[:0], key...)
			if err := f(b.filter, reused); err != nil {
				return err
			}
			for i := range reused { // whoever keeps the memory sees it change
				reused[i] = 0xaa
			}
		}
	}
	return t.err
}

// tableOf returns a table that has a filter for each of these blocks of keys.
func tableOf(
	r tables.FilterReader, filter func(keys ...string) []byte, blocks ...[]string,
) *fakeTable {
	f := &tables.Filters{Policy: "test", Reader: r, Layout: tables.PerWindow, BaseLg: 11}
	t := &fakeTable{info: tables.Info{Format: "LevelDB", Filters: f}}
	for i, keys := range blocks {
		t.blocks = append(t.blocks, fakeBlock{i, keys})
		f.Each = append(f.Each, filter(keys...))
	}
	return t
}

// exactTable has exact filters.
func exactTable(blocks ...[]string) *fakeTable {
	return tableOf(exact{}, exact{}.filter, blocks...)
}

// bloomTable has filters that policy.NewBloom(10) makes.
func bloomTable(blocks ...[]string) *fakeTable {
	return tableOf(tables.LevelDBFilters{}, filterOf(policytest.Must(policy.NewBloom(10))), blocks...)
}

// filterOf returns a function that makes a filter of a policy.
func filterOf(p *policy.Policy) func(keys ...string) []byte {
	return func(keys ...string) []byte {
		b := p.NewBuilder()
		for _, key := range keys {
			b.Add([]byte(key))
		}
		return b.Finish(nil)
	}
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

func surveyOf(t testing.TB, table tables.Table) *Report {
	r, err := verify(table, NewSample(All))
	require.NoError(t, err)
	return r
}

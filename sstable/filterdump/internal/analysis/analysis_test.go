package analysis

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Versions of one key are entries of their own, and no neighbors.
func TestVersions(t *testing.T) {
	table := exactTable([]string{"k1", "k1", "k1", "k2", "k3", "k5", "k5"})
	r := analyze(t, table)
	require.EqualValues(t, 7, r.Entries)
	require.EqualValues(t, 4, r.Keys)
	require.EqualValues(t, 7, r.KeysPerFilter, "LevelDB adds all versions")
	table.info.Layout = tables.PerTable
	require.EqualValues(t, 4, analyze(t, table).KeysPerFilter, "Pebble adds one")
}

// The context ends the pass over the entries.
func TestContext(t *testing.T) {
	table := windowTable(numbered(seeded(t, 5), "%016d", 0, 20_000, 0.63), 10)
	for _, at := range []int{1, 5, 15} { // how often Err was called before it ends
		ctx := &endingContext{Context: context.Background(), calls: at}
		r, err := Analyze(ctx, table, NewSample(All))
		require.ErrorIs(t, err, context.Canceled, "after %d calls", at)
		require.Nil(t, r)
		require.Equal(t, 0, ctx.calls, "it ends at once")
	}
	_, err := Analyze(&endingContext{Context: context.Background(), calls: 1000}, table,
		NewSample(All))
	require.NoError(t, err)
}

// An endingContext ends after some calls of Err.
type endingContext struct {
	context.Context
	calls int
}

func (c *endingContext) Err() error {
	if c.calls--; c.calls > 0 {
		return nil
	}
	return context.Canceled
}

// A manyTable makes its keys as they are read, and notes the heap at the end.
type manyTable struct {
	fakeTable
	keys int
	heap uint64
}

func (t *manyTable) Locate([]byte) int { return 0 }

func (t *manyTable) Keys(f func(filter int, key []byte) error) error {
	for i := range t.keys {
		if err := f(0, fmt.Appendf(nil, "%016d", 2*i)); err != nil {
			return err
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	t.heap = m.HeapAlloc
	return nil
}

// Ten times the keys keep no more memory.
func TestMemoryIsFlat(t *testing.T) {
	heap := func(keys int) uint64 {
		table := &manyTable{fakeTable: *wholeTable([][]byte{{0}}, 10), keys: keys}
		table.info.Each[0] = append(bytes.Repeat([]byte{0xff}, 999), 6)
		r := analyze(t, table)
		require.EqualValues(t, keys, r.Entries)
		return table.heap
	}
	require.Less(t, float64(heap(1_000_000)), float64(heap(100_000))+20e6)
}

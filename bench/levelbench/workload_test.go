package levelbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/keyset"
)

// The operations have the parts that were asked for, and the keys of an action are what its name says.
func TestWorkload(t *testing.T) {
	c, _ := small(t)
	for _, shape := range keyset.Shapes {
		t.Run(shape.Name, func(t *testing.T) {
			c.Shape = shape
			w, err := c.newWorkload()
			require.NoError(t, err)
			n := float64(c.Operations)
			for action, part := range map[action]float64{miss: 0.45, hit: 0.05, overwrite: 0.25, insert: 0.25} {
				require.InDelta(t, part*n, w.counts[action], 0.01*n)
			}
			require.Equal(t, c.Operations, w.counts.Lookups()+w.counts.Writes())

			loaded, inserted, absent := map[string]bool{}, map[string]bool{}, map[string]bool{}
			for i := range w.keys[hit].count() {
				loaded[string(w.keys[hit].at(uint32(i)))] = true
			}
			require.Len(t, loaded, c.Keys)
			for i, o := range w.operations {
				key := string(w.keys[o.action].at(o.key))
				switch o.action {
				case miss:
					absent[key] = true
				case insert:
					require.False(t, loaded[key] || inserted[key], "operation %d", i)
					inserted[key] = true
				default:
					require.True(t, loaded[key], "operation %d", i)
				}
				require.Len(t, w.value(i), c.ValueSize)
			}
			require.Len(t, inserted, w.counts[insert])
			require.Greater(t, len(absent), w.counts[miss]/3)
			for key := range absent {
				require.False(t, loaded[key] || inserted[key])
			}
			require.NotEqual(t, w.value(0), w.value(1))
		})
	}
}

func TestSeedDeterminesTheWorkload(t *testing.T) {
	c, _ := small(t)
	w, err := c.newWorkload()
	require.NoError(t, err)
	same, err := c.newWorkload()
	require.NoError(t, err)
	require.Equal(t, w, same)
	c.Seed++
	other, err := c.newWorkload()
	require.NoError(t, err)
	require.NotEqual(t, w.operations, other.operations)
	require.NotEqual(t, w.values, other.values)
	for action := range w.keys {
		require.NotEqual(t, w.keys[action], other.keys[action])
	}
}

func TestExtremeWorkloads(t *testing.T) {
	c, _ := small(t)
	c.Writes = 0
	w, err := c.newWorkload()
	require.NoError(t, err)
	require.Zero(t, w.counts.Writes())
	c.Writes, c.Hits, c.Keys, c.Operations, c.ValueSize = 0.99, 0, 1, 1000, 0
	w, err = c.newWorkload()
	require.NoError(t, err)
	require.Zero(t, w.counts[hit])
	require.Empty(t, w.value(999))
}

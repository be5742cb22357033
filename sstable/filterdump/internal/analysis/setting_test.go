package analysis

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The setting is told from the filters' sizes.
func TestSettingIsFound(t *testing.T) {
	rng := seeded(t, 1)
	for _, bitsPerKey := range []float64{1, 2, 3, 5, 8, 9, 10, 14, 20, 43, 50, 100} {
		for _, blockSize := range []int{512, 4096, 65536} {
			table := windowTable(t, numbered(rng, "%016d", 0, 3000, 0.5).present, bitsPerKey, blockSize, 11)
			l := analyseLayout(t, table)
			if bitsPerKey < 3 && blockSize == 512 { // each filter has 64 bits: 1 and 2 bits per key make the same
				require.Equal(t, 2.0, l.bitsPerKey)
				continue
			}
			require.Equal(t, bitsPerKey, l.bitsPerKey, "blocks of %d", blockSize)
		}
	}
	for _, bitsPerKey := range []float64{1.5, 9.5, 13.37} {
		l := analyseLayout(t, wholeTable(t, numbered(rng, "%016d", 0, 3000, 0.5).present, bitsPerKey))
		require.InDelta(t, bitsPerKey, l.bitsPerKey, 8.0/3000)
	}
	// Two settings in one table fit no number of bits: then it is the mean.
	table := windowTable(t, numbered(rng, "%016d", 0, 3000, 0.5).present, 10, 4096, 11)
	other := windowTable(t, table.keys(), 20, 4096, 11)
	each := table.info.Filters.Each
	copy(each[len(each)/2:], other.info.Filters.Each[len(each)/2:])
	require.InDelta(t, 15, analyseLayout(t, table).bitsPerKey, 0.5)

	// One key in a filter of 64 bits: k tells.
	require.Equal(t, 10.0, analyseLayout(t, wholeTable(t, [][]byte{[]byte("key")}, 10)).bitsPerKey)
	// 11 keys in 64 bits: no more than 64/11, and k = 4 says no less than 4/0.69.
	require.InDelta(t, 5.8, analyseLayout(t, wholeTable(t, numbered(rng, "%016d", 0, 11, 1).present, 5.8)).bitsPerKey, 0.02)
	_, ok := layoutOf(wholeTable(t, nil, 10).info.Filters, []int64{0})
	require.False(t, ok)
}

func analyseLayout(t *testing.T, table *fakeTable) layout {
	f := table.info.Filters
	keys := make([]int64, len(f.Each))
	require.NoError(t, table.Keys(func(filter int, key []byte) error {
		keys[filter]++
		return nil
	}))
	l, ok := layoutOf(f, keys)
	require.True(t, ok)
	return l
}

// The size of the filter block at every base_lg, against the block made of the same data.
func TestSizeAtOtherBaseLg(t *testing.T) {
	rng := seeded(t, 2)
	differ := 0
	for _, blockSize := range []int{700, 1024, 4096, 20000} {
		for _, n := range []int{1, 20, 35, 36, 1000, 1 + rng.IntN(3000), 1 + rng.IntN(3000)} {
			t.Run(fmt.Sprintf("%d keys in blocks of %d", n, blockSize), func(t *testing.T) {
				keys := numbered(rng, "%016d", 0, n, 0.5).present
				table := windowTable(t, keys, 10, blockSize, 11)
				l := analyseLayout(t, table)
				l.bitsPerKey = 10
				require.Equal(t, table.info.Filters.Bytes, l.bytes())
				for baseLg := 11; baseLg <= 22; baseLg++ {
					want := windowTable(t, keys, 10, blockSize, baseLg).info.Filters
					require.Equal(t, want.Bytes, l.blockBytes(baseLg), "base_lg %d", baseLg)
					if want.Bytes != table.info.Filters.Bytes {
						differ++
					}
				}
			})
		}
	}
	require.Greater(t, differ, 100)
	whole := wholeTable(t, numbered(rng, "%016d", 0, 1000, 1).present, 10)
	require.Equal(t, whole.info.Filters.Bytes, analyseLayout(t, whole).bytes())
}

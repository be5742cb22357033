package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// The setting is found from the filters' sizes.
func TestSettingIsFound(t *testing.T) {
	rng := seeded(t, 1)
	for _, bitsPerKey := range []float64{1, 2, 3, 5, 8, 9, 10, 14, 20, 43, 50, 100} {
		for _, blockSize := range []int{512, 4096, 65536} {
			keys := numbered(rng, "%016d", 0, 3000, 0.5).present
			s := settingFound(t, windowTable(t, keys, bitsPerKey, blockSize, 11))
			require.Equal(t, policy.EncodingBloom, s.kind.encoding)
			if bitsPerKey < 3 && blockSize == 512 { // 64 bits each, with 1 and 2 bits per key
				require.Equal(t, 2.0, s.bitsPerKey)
				continue
			}
			require.Equal(t, bitsPerKey, s.bitsPerKey, "blocks of %d", blockSize)
			s = settingFound(t, windowTableOf(mustBlocked(t, bitsPerKey), keys, blockSize, 11))
			require.Equal(t, policy.EncodingBlocked, s.kind.encoding)
			require.Equal(t, bitsPerKey, s.bitsPerKey, "blocks of %d", blockSize)
		}
	}
	for _, bitsPerKey := range []float64{1.5, 9.5, 13.37} {
		s := settingFound(t, wholeTable(t, numbered(rng, "%016d", 0, 3000, 0.5).present, bitsPerKey))
		require.InDelta(t, bitsPerKey, s.bitsPerKey, 8.0/3000)
	}
	// Two settings in one table fit no number of bits: then it is the mean.
	table := windowTable(t, numbered(rng, "%016d", 0, 3000, 0.5).present, 10, 4096, 11)
	other := windowTable(t, table.keys(), 20, 4096, 11)
	each := table.info.Filters.Each
	copy(each[len(each)/2:], other.info.Filters.Each[len(each)/2:])
	require.InDelta(t, 15, settingFound(t, table).bitsPerKey, 0.5)

	// One key in a filter of 64 bits: k tells.
	require.Equal(t, 10.0, settingFound(t, wholeTable(t, [][]byte{[]byte("key")}, 10)).bitsPerKey)
	require.Nil(t, settingOf(wholeTable(t, nil, 10).info.Filters, []int64{0}))
	require.Nil(t, settingOf(exactTable([]string{"1", "3"}).info.Filters, []int64{2}))
}

func settingFound(t *testing.T, table *fakeTable) *setting {
	f := table.info.Filters
	keys := make([]int64, len(f.Each))
	require.NoError(t, table.Keys(func(filter int, key []byte) error {
		keys[filter]++
		return nil
	}))
	s := settingOf(f, keys)
	require.NotNil(t, s)
	return s
}

// Every kind that the advice can name is what its policy builds.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		p, err := k.new(10)
		require.NoError(t, err)
		builder := p.NewBuilder()
		builder.Add([]byte("key"))
		filter := builder.Finish(nil)
		info, err := policy.Parse(filter)
		require.NoError(t, err)
		require.Equal(t, k.encoding, info.Encoding)
		require.EqualValues(t, p.FilterSize(1), len(filter))
	}
}

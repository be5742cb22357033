package analysis

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each of the things offered is in the sample as often as each other.
func TestReservoirIsUniform(t *testing.T) {
	rng := seeded(t, 1)
	const offered, limit, times = 100, 10, 4000
	counts := make([]int, offered)
	for range times {
		r := reservoir[int]{rng: rng, limit: limit}
		for i := range offered {
			r.offer(func() int { return i })
		}
		require.Len(t, r.sample, limit)
		for _, i := range r.sample {
			counts[i]++
		}
	}
	requireUniform(t, counts, float64(times*limit)/offered)
}

// Few things are all kept.
func TestReservoirKeepsFew(t *testing.T) {
	r := reservoir[int]{rng: seeded(t, 2), limit: 10}
	for i := range 10 {
		r.offer(func() int { return i })
		require.Equal(t, i, r.sample[i])
	}
}

// Long keys are left out of the samples, which are copies.
func TestSamplesAreBounded(t *testing.T) {
	s := newSurvey(seeded(t, 3), nil, 10)
	key := make([]byte, maxSampledLen+1)
	for i := range 4 {
		key[0] = byte(2 * i)
		require.NoError(t, s.add(-1, key[:len(key)-i%2]))
	}
	require.EqualValues(t, 4, s.keys)
	require.Len(t, s.sample.sample, 2)
	require.Empty(t, s.pairs.sample)
	clear(key)
	require.EqualValues(t, 2, s.sample.sample[0][0])
}

// Adjacent are neighbors whose numbers, big-endian, differ by one, if they have one length.
func TestAdjacent(t *testing.T) {
	rng := seeded(t, 4)
	pool := []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}
	for range 20000 {
		low, high := make([]byte, 1+rng.IntN(3)), make([]byte, 1+rng.IntN(3))
		for _, key := range [][]byte{low, high} {
			for i := range key {
				key[i] = pool[rng.IntN(len(pool))]
			}
		}
		if rng.IntN(2) == 0 { // a successor, most often
			high = slices.Clone(low)
			for i := len(high) - 1; i >= 0; i-- {
				if high[i]++; high[i] != 0 {
					break
				}
			}
		}
		if bytes.Compare(low, high) >= 0 {
			continue
		}
		difference := new(big.Int).Sub(new(big.Int).SetBytes(high), new(big.Int).SetBytes(low))
		want := len(low) == len(high) && difference.Cmp(big.NewInt(1)) == 0
		require.Equal(t, want, neighbors{low, high}.adjacent(), "%x %x", low, high)
	}
}

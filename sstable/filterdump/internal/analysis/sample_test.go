package analysis

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each of the things offered is in the sample as often as each other, also when the sample was halved on the way.
func TestReservoirIsUniform(t *testing.T) {
	rng := seeded(t, 1)
	for _, halved := range []bool{false, true} {
		const offered, limit, times = 100, 10, 4000
		counts := make([]int, offered)
		kept := 0
		for range times {
			r := reservoir[sampledKey]{rng: rng, limit: limit}
			for i := range offered {
				r.offer(sampledKey{byte(i)})
				if halved && i == 30 {
					r.halve()
				}
			}
			kept = len(r.sample)
			for _, key := range r.sample {
				counts[key[0]]++
			}
		}
		if halved {
			require.Equal(t, limit/2, kept)
		} else {
			require.Equal(t, limit, kept)
		}
		requireUniform(t, counts, float64(times*kept)/offered)
	}
}

// Few things are all kept, whatever the limit.
func TestReservoirKeepsFew(t *testing.T) {
	r := reservoir[sampledKey]{rng: seeded(t, 2), limit: 10}
	for i := range 10 {
		r.offer(sampledKey{byte(i)})
	}
	for i := range 10 {
		require.Equal(t, sampledKey{byte(i)}, r.sample[i])
	}
}

func TestReservoirBoundsItsBytes(t *testing.T) {
	r := reservoir[neighbours]{rng: seeded(t, 3), limit: 1 << 16}
	key := make([]byte, 1<<16)
	for i := range 2000 {
		binary.BigEndian.PutUint32(key, uint32(i))
		r.offer(neighbours{key, key[:len(key)/(1+i%3)]})
		bytes := 0
		for _, x := range r.sample {
			bytes += x.size()
		}
		require.Equal(t, bytes, r.bytes)
		require.LessOrEqual(t, bytes, maxSampleBytes)
	}
	require.Greater(t, r.bytes, maxSampleBytes/4)
	clear(key)
	key[0] = 1 // what is kept is a copy
	require.NotEqual(t, key[:4], r.sample[0].low[:4])

	huge := reservoir[sampledKey]{rng: r.rng, limit: 5}
	huge.offer(make(sampledKey, maxSampleBytes+1))
	require.Len(t, huge.sample, 1, "one is always kept")
}

// Adjacent are neighbours whose numbers, big-endian, differ by one, if they have one length.
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
		require.Equal(t, want, neighbours{low, high}.adjacent(), "%x %x", low, high)
	}
}

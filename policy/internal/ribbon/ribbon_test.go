package ribbon

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func randomHashes(rng *rand.Rand, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	return hashes
}

// encode appends the filter of the hashes to dst.
func encode(dst []byte, hashes []uint64, bitsPerKey float64) []byte {
	b := NewBuilder(&builder.Setting{BitsPerKey: bitsPerKey}, false)
	for _, hash := range hashes {
		if b.Full() {
			b.Grow()
		}
		b.Put(hash)
	}
	return b.Finish(dst)
}

// build returns the filter of the hashes, and checks that no key is lost.
func build(t testing.TB, hashes []uint64, bitsPerKey float64) []byte {
	t.Helper()
	filter := encode(nil, hashes, bitsPerKey)
	require.Len(t, filter, Size(len(hashes), bitsPerKey))
	require.EqualValues(t, Encoding, filter[len(filter)-1])
	for _, hash := range hashes {
		if !Contains(filter, hash) {
			t.Fatalf("lost %#x of %d keys at %v bits per key", hash, len(hashes), bitsPerKey)
		}
	}
	return filter
}

var settings = []float64{2, 2.9, 3, 7, 8, 9.5, 9.99, 10, 15.97, 16, 23.2, 39, 39.9, 40}

// The builder writes the same bytes as the reference, and the reader gives the same answers.
func TestReference(t *testing.T) {
	rng := testkit.Rand(t, 1)
	check := func(n int, bitsPerKey float64) {
		hashes := randomHashes(rng, n)
		if n%3 == 0 { // some of them twice
			copy(hashes, hashes[n-n/5:])
		} else if n%3 == 1 {
			hashes[rng.Intn(n)] = hashes[rng.Intn(n)]
		}
		got := build(t, hashes, bitsPerKey)
		require.Equal(t, refBuild(hashes, bitsPerKey), got, "%d keys at %v bits", n, bitsPerKey)
		for _, x := range append(hashes[:min(n, 100)], randomHashes(rng, 300)...) {
			contains, fits := refContains(got, x)
			require.True(t, fits)
			require.Equal(t, contains, Contains(got, x), "%d keys at %v bits", n, bitsPerKey)
		}
	}
	for i, bitsPerKey := range settings {
		if testing.Short() && i%5 != 0 {
			continue
		}
		for n := 1; n < 150; n += 1 + rng.Intn(4) {
			check(n, bitsPerKey)
		}
		for _, n := range []int{200, 255, 256, 511, 697, 698, 699, 700, 701, 702, 1249, 1250, 2000} {
			check(n, bitsPerKey)
		}
	}
}

// fewStarts returns hashes whose d is in the lowest 10 % of its range with all multipliers.
func fewStarts(rng *rand.Rand, n int) (hashes []uint64) {
	for len(hashes) < n {
		hash := rng.Uint64()
		low := true
		for q := uint64(0); q < solverSeeds/variants && low; q++ {
			_, fp := draw(hash, multiplier(q*variants))
			low = fp>>52 < 4096/10
		}
		if low {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// Shards that no seed solves, or that have too many keys, are Bloom filters; others are not.
func TestBloomShards(t *testing.T) {
	rng := testkit.Rand(t, 5)
	crowded := randomHashes(rng, 9000)
	for i := range crowded[:900] {
		crowded[i] &^= 0xf8000000 // in the first shard, with 500 others
	}
	for _, c := range []struct {
		hashes []uint64
		shards int
	}{{fewStarts(rng, 100), 1}, {fewStarts(rng, 700), 1}, {crowded, 18}, {noSolution(5000), 10}} {
		filter := build(t, c.hashes, 10)
		require.Equal(t, refBuild(c.hashes, 10), filter)
		columns, ok := Parse(filter)
		require.True(t, ok)
		require.Equal(t, 10-c.shards/10, columns)
		require.Equal(t, c.shards, shardsFor(len(c.hashes)))
		const asked = 400_000
		first := 0.0
		for range asked {
			if Contains(filter, rng.Uint64()&^(1<<32-1)) { // of the first shard
				first++
			}
		}
		require.Greater(t, first/asked, 0.004)
		require.Less(t, first/asked, 0.015)
	}
}

// The largest shard with a solution, 1000 times the same key, and one more, which has none.
func TestLargestShard(t *testing.T) {
	rng := testkit.Rand(t, 9)
	for _, n := range []int{maxShardKeys, maxShardKeys + 1} {
		hashes := slices.Repeat([]uint64{1 << 63}, n) // in shard 0
		for len(hashes) < 3*n {
			hashes = append(hashes, rng.Uint64()|1<<31)
		}
		filter := build(t, hashes, 10)
		require.Equal(t, refBuild(hashes, 10), filter)
	}
}

// fpp is the mean over all values of d.
func TestFPP(t *testing.T) {
	for slots := 8; slots < 800; slots += 1 + slots/9 {
		for size := slots; size < slots+slots/4; size++ {
			l, pass := layoutOf(size, slots), 0.0
			for h := range uint64(4096) {
				columns := l.columns
				if start, _ := place(h<<52, uint(slots)); int(start)+spanOctets <= l.short {
					columns++
				}
				pass += math.Exp2(-float64(columns)) / 4096
			}
			require.InEpsilon(t, pass, fpp(size, slots), 0.01, "%d bytes, %d slots", size, slots)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		n          int
		bitsPerKey float64
		want       int
	}{
		{1, 2, 8 + 4}, {1, 40, 40 + 4}, {7, 9.5, 10 + 4}, {8, 10, 10 + 4}, {9, 2, 8 + 4},
		{11, 5.2, 8 + 4}, {28, 2, 8 + 4}, {36, 10, 45 + 4}, {100, 9.5, 113 + 4}, {128, 9.5, 152 + 4},
		{700, 10, 875 + 4}, {701, 10, 877 + 8}, {10_000, 10.25, 12_813 + 8}, {1 << 28, 40, 5<<28 + 8},
		{1<<28 + 1, 10, 2}, {math.MaxInt32, 10, 2},
	} {
		require.Equal(t, c.want, Size(c.n, c.bitsPerKey), "%d keys at %v bits", c.n, c.bitsPerKey)
	}
	// Never more than requested, and less only in small filters with fractions of bits.
	for _, bitsPerKey := range settings {
		for n := 8; n < 1500; n++ {
			size, exact := float64(Size(n, bitsPerKey)), max(8, float64(n)*bitsPerKey/8)
			require.Less(t, size, exact+trailer+1)
			if n > soloKeys || bitsPerKey == math.Trunc(bitsPerKey) {
				require.GreaterOrEqual(t, size, exact+soloTrailer)
			}
		}
	}
}

// Every figure of the example in FORMAT.md.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../FORMAT.md")
	require.NoError(t, err)
	var hashes []uint64
	for letter := byte('a'); letter <= 'i'; letter++ {
		hashes = append(hashes, xxh3.Hash([]byte{letter}))
	}
	filter := build(t, hashes, 9)
	require.Contains(t, string(text), fmt.Sprintf("filter: % x   %x       %x        %x        % x\n",
		filter[:8], filter[8:9], filter[9:10], filter[10:11], filter[11:]))
	require.Equal(t, refShard{p: 11, m: 9, g: 1, k: 1, b: 1, r: 1, c: 9}, newRefShard(11, 9))
	hash, m := hashes['c'-'a'], multiplier(0)
	v, f := draw(hash, m)
	require.Contains(t, string(text), fmt.Sprintf("H = %#x    V = %#x\n    M = %#x    F = %#x    "+
		"F / 2^52 = %d, last = 0, d = %d\n", hash, v, m, f, f>>52, int(f>>52*7>>12)-3))
	require.Contains(t, string(text), fmt.Sprintf("V are %09b; bits 44 to 41 of F are %04b; ",
		v>>55, f>>41%16))
	_, coeffs, fp := refEquation(hash, 0, 9)
	require.EqualValues(t, 1<<1|1<<5|1<<6|1<<8, coeffs)
	require.Contains(t, string(text), fmt.Sprintf("fingerprint are %09b.", fp%512))
	z, ok := refSolve(hashes, 0, 9)
	require.True(t, ok)
	require.Contains(t, string(text), fmt.Sprintf(
		"slot 1: %09b    slot 5: %09b    slot 6: %09b    slot 8: %09b\n    sum:    %09b\n",
		z[1]%512, z[5]%512, z[6]%512, z[8]%512, (z[1]^z[5]^z[6]^z[8])%512))
}

// No key is lost in filters of all sizes from 1 to 2000, and of some large ones, at any setting.
func TestEverySize(t *testing.T) {
	rng := testkit.Rand(t, 15)
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 1; n <= 2000; n += step {
		build(t, randomHashes(rng, n), 2+38*rng.Float64()) // which looks up all keys
	}
	for range 4 {
		build(t, randomHashes(rng, 10_000+rng.Intn(100_000)/step), 2+38*rng.Float64())
	}
}

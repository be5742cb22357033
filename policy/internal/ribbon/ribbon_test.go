package ribbon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

func randomHashes(rng *rand.Rand, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	return hashes
}

// build returns the filter of the hashes, in several parts, or nil. No key is lost.
func build(t testing.TB, b *Builder, hashes []uint64, bitsPerKey float64) []byte {
	t.Helper()
	third := len(hashes) / 3
	parts := [][]uint64{hashes[:third], nil, hashes[third:]}
	extended, ok := b.Build([]byte("before"), parts, bitsPerKey)
	require.True(t, strings.HasPrefix(string(extended), "before"))
	filter := extended[len("before"):]
	size, suits := Size(len(hashes), bitsPerKey)
	if !ok {
		require.Empty(t, filter)
		return nil
	}
	require.True(t, suits)
	require.Len(t, filter, size)
	require.EqualValues(t, Encoding, filter[size-1])
	for _, hash := range hashes {
		if !Contains(filter, hash) {
			t.Fatalf("lost %#x of %d keys at %v bits per key", hash, len(hashes), bitsPerKey)
		}
	}
	return filter
}

var settings = []float64{2, 2.9, 3, 7, 8, 9.5, 9.99, 10, 15.97, 16, 23.2, 39, 39.9, 40}

// The builder writes what the plain one writes, which loses no key either, and the reader answers
// as the plain one.
func TestReference(t *testing.T) {
	rng := policytest.Rand(t, 1)
	var b Builder
	check := func(n int, bitsPerKey float64) {
		hashes := randomHashes(rng, n)
		if n%3 == 0 { // some of them twice
			copy(hashes, hashes[n-n/5:])
		} else if n%3 == 1 {
			hashes[rng.Intn(n)] = hashes[rng.Intn(n)]
		}
		want := refBuild(hashes, bitsPerKey)
		got := build(t, &b, hashes, bitsPerKey)
		require.Equal(t, want, got, "%d keys at %v bits", n, bitsPerKey)
		if got == nil {
			_, ok := Size(n, bitsPerKey)
			require.False(t, ok, "%d keys at %v bits", n, bitsPerKey)
			return
		}
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
		for n := 0; n < 150; n += 1 + rng.Intn(4) {
			check(n, bitsPerKey)
		}
		for _, n := range []int{200, 255, 256, 511, 697, 698, 699, 700, 701, 702, 1249, 1250, 2000} {
			check(n, bitsPerKey)
		}
	}
}

// Filters are the same whatever the order of the keys, and with a builder that has been used. A
// builder allocates nothing but large filters' memory.
func TestReuse(t *testing.T) {
	rng := policytest.Rand(t, 2)
	var used Builder
	for _, n := range []int{5000, 8, 36, 700, 701, 100} {
		hashes := randomHashes(rng, n)
		var fresh Builder
		want := build(t, &fresh, hashes, 10.3)
		slices.Reverse(hashes)
		require.Equal(t, want, build(t, &used, hashes, 10.3))
		parts := [][]uint64{hashes}
		dst := bytes.Repeat([]byte{0xff}, len(want))[:0]
		got, ok := used.Build(dst, parts, 10.3)
		require.True(t, ok)
		require.Equal(t, want, got, "in dirty memory")
		require.Zero(t, testing.AllocsPerRun(10, func() {
			_, ok := used.Build(dst, parts, 10.3)
			require.True(t, ok)
		}))
		require.Zero(t, testing.AllocsPerRun(10, func() { Contains(want, hashes[0]) }))
	}
}

// A build takes at most 24 bytes per key, with those of the hashes and the filter.
func TestMemory(t *testing.T) {
	if policytest.Race {
		t.Skip("the race detector takes memory too")
	}
	hashes := randomHashes(policytest.Rand(t, 3), 1_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var b Builder
	filter, ok := b.Build(nil, [][]uint64{hashes}, 10)
	runtime.ReadMemStats(&after)
	require.True(t, ok)
	require.Len(t, filter, 1_250_008)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64((24-8)*len(hashes)))
}

// Repeated hashes, and hashes that somebody chose: no key is lost, no build takes long
// (BenchmarkAttack), and the filter excludes nearly all other keys.
func TestChosenHashes(t *testing.T) {
	rng := policytest.Rand(t, 10) // the hashes have 4
	for _, c := range chosenHashes() {
		for _, n := range []int{50, 700, 20_000} {
			if testing.Short() && n > 50 {
				continue
			}
			var b Builder
			hashes := c.hashes(n)
			filter := build(t, &b, hashes, 10)
			require.Equal(t, refBuild(hashes, 10), filter, "%s, %d keys", c.name, n)
			found := 0
			for range 1000 {
				if Contains(filter, rng.Uint64()) {
					found++
				}
			}
			require.Less(t, found, 50, "%s, %d keys", c.name, n)
		}
	}
}

type chosen struct {
	name   string
	hashes func(n int) []uint64
}

func chosenHashes() []chosen {
	return []chosen{
		{"all equal", repeat(1)},
		{"two", repeat(2)},
		{"300", repeat(300)},
		{"each twice", func(n int) []uint64 { return repeat(n / 2)(n) }},
		{"ascending", choose(func(i uint64) uint64 { return i })},
		{"high bits", choose(func(i uint64) uint64 { return i << 44 })},
		{"multiples of 2^32", choose(func(i uint64) uint64 { return i << 32 })},
		{"equal halves", choose(func(i uint64) uint64 { return i<<32 | i })},
		{"all at the end", choose(func(i uint64) uint64 { return math.MaxUint64 - i })},
		{"few starts with seeds 0 to 7", fewStarts(1)},
		{"few starts with seeds 0 to 15", fewStarts(2)},
		{"few starts with all seeds", fewStarts(8)},
		{"no solution", noSolution},
	}
}

// noSolution returns hashes that leave no shard of a large filter a solution. Hashes that differ
// only in their top 8 bits, 250 at a time here, are of one shard, and their coefficients, too,
// differ only there. With every multiplier some 16 of them have the last start: more than those 8
// bits and what they share allow, so their equations depend on each other.
func noSolution(n int) []uint64 {
	shards := uint64(shardsFor(n))
	return choose(func(i uint64) uint64 {
		shard, i := i%shards, i/shards
		middle := (shard + i/250*shards) * 0x9e3779b97f4a7c15 >> 40 << 32
		return i%250<<56 | middle | (2*shard+1)<<31/shards
	})(n)
}

func choose(hash func(i uint64) uint64) func(n int) []uint64 {
	return func(n int) []uint64 {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = hash(uint64(i))
		}
		return hashes
	}
}

func repeat(different int) func(n int) []uint64 {
	return choose(func(i uint64) uint64 { return i % uint64(different) * 0x9e3779b97f4a7c15 })
}

// fewStarts returns hashes whose starts are drawn from the lowest 10 % with several multipliers.
func fewStarts(multipliers uint64) func(n int) []uint64 {
	return func(n int) (hashes []uint64) {
		for rng := rand.New(rand.NewSource(4)); len(hashes) < n; {
			hash := rng.Uint64()
			low := true
			for q := uint64(0); q < multipliers && low; q++ {
				_, fp := draw(hash, multiplier(q*variants))
				low = fp>>52 < 4096/10
			}
			if low {
				hashes = append(hashes, hash)
			}
		}
		return hashes
	}
}

// A shard that no seed solves, or that has too many keys, is a Bloom filter. Others are not.
func TestBloomShards(t *testing.T) {
	rng := policytest.Rand(t, 5)
	crowded := randomHashes(rng, 9000)
	for i := range crowded[:900] {
		crowded[i] &^= 0xf8000000 // in the first shard, with 500 others
	}
	for _, c := range []struct {
		hashes []uint64
		shards int
	}{{fewStarts(8)(100), 1}, {fewStarts(8)(700), 1}, {crowded, 18}} {
		filter := build(t, new(Builder), c.hashes, 10)
		require.Equal(t, refBuild(c.hashes, 10), filter)
		info, ok := Parse(filter)
		require.True(t, ok)
		require.Equal(t, c.shards, shardsFor(len(c.hashes)))
		const asked = 400_000
		first, all := 0.0, 0.0
		for range asked {
			x := rng.Uint64()
			if Contains(filter, x) {
				all++
			}
			if Contains(filter, x&^(1<<32-1)) { // of the first shard
				first++
			}
		}
		require.Greater(t, first/asked, 0.004)
		require.Less(t, first/asked, 0.015)
		// In a small filter, probes at equal distances coincide with those of keys more often.
		require.InDelta(t, 1.06*info.FPP*asked, all, 0.06*info.FPP*asked+5*math.Sqrt(all))
	}
}

// No shard has a solution: the filter is one Bloom filter per shard, and loses no key.
func TestAttack(t *testing.T) {
	for _, n := range []int{500, 5000} {
		filter := build(t, new(Builder), noSolution(n), 10)
		end := load8(filter, uint(len(filter)-trailer))
		if n <= soloKeys {
			require.True(t, isBloom(filter))
			continue
		}
		for i := range end % (1 << 32) {
			_, _, seed, ok := locate(filter, end, i)
			require.True(t, ok)
			require.EqualValues(t, bloomSeed, seed, "shard %d", i)
		}
	}
}

// The largest shard with a solution, 1000 keys that are one key, and the next, which has none.
func TestLargestShard(t *testing.T) {
	rng := policytest.Rand(t, 9)
	for _, n := range []int{maxShardKeys, maxShardKeys + 1} {
		hashes := choose(func(uint64) uint64 { return 1 << 63 })(n) // shard 0
		for len(hashes) < 3*n {
			hashes = append(hashes, rng.Uint64()|1<<31)
		}
		filter := build(t, new(Builder), hashes, 10)
		require.Equal(t, refBuild(hashes, 10), filter)
	}
}

// The smallest filter has 12 bytes. That gives up to 8 keys 8 columns.
func TestSmallest(t *testing.T) {
	for n := 1; n <= 8; n++ {
		filter := build(t, new(Builder), randomHashes(policytest.Rand(t, 8), n), 2)
		require.Len(t, filter, 12)
		info, ok := Parse(filter)
		require.True(t, ok)
		require.Equal(t, 8, info.Columns)
		require.InDelta(t, 1.0/256, info.FPP, 1e-9)
	}
}

// The probability is that of all places where a span may begin.
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

// The rates are those that the columns give, within five standard errors, and FPP predicts them
// within 5 %.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rng := policytest.Rand(t, 7)
	var b Builder
	for _, bitsPerKey := range []float64{2, 4, 7, 7.5, 10, 16} {
		for _, n := range []int{1, 2, 3, 5, 7, 8, 9, 10, 11, 15, 20, 28, 36, 40, 64, 100, 500, 700,
			701, 1000, 3000, 20_000} {
			asked, found, expected := 0.0, 0.0, 0.0
			for asked < 500_000 {
				filter := build(t, &b, randomHashes(rng, n), bitsPerKey)
				info, ok := Parse(filter)
				require.True(t, ok)
				require.InEpsilon(t, max(8, n), info.Keys, 0.03)
				if isBloom(filter) { // seldom: TestNoSolution
					continue
				}
				queries := max(2_000, n)
				for range queries {
					if Contains(filter, rng.Uint64()) {
						found++
					}
				}
				asked += float64(queries)
				expected += info.FPP * float64(queries)
			}
			slack := 5 * math.Sqrt(expected)
			require.InDelta(t, expected, found, slack, "%v bits, %d keys", bitsPerKey, n)
			fpp := FPP(n, bitsPerKey)
			require.InEpsilon(t, expected/asked, fpp, 0.03, "%v bits, %d keys", bitsPerKey, n)
			require.InDelta(t, fpp*asked, found, 0.05*fpp*asked+slack, "%v bits, %d keys",
				bitsPerKey, n)
			size, _ := Size(n, bitsPerKey)
			limit := math.Exp2(-8 * float64(size-soloTrailer) / float64(n))
			require.Greater(t, found, limit*asked-slack, "no filter can have fewer")
		}
	}
}

// A probability is at most 1, however many shards it is the mean of.
func TestCertainFPP(t *testing.T) {
	for shards := 1; shards <= 100; shards++ {
		var filter []byte // without columns, so all keys are in it
		for i := range shards + 1 {
			filter = binary.LittleEndian.AppendUint32(filter, uint32(spanOctets*i*seeds))
		}
		filter = binary.LittleEndian.AppendUint32(filter, uint32(shards))
		filter = append(filter, 0, 0, 0, Encoding)
		correct(filter)
		info, ok := Parse(filter)
		require.True(t, ok)
		require.Equal(t, 1.0, info.FPP, "%d shards", shards)
	}
}

func isBloom(filter []byte) bool {
	end := load8(filter, uint(len(filter)-trailer))
	return end>>32%slotsRange > 0 && end>>32/slotsRange%seeds == bloomSeed
}

// Of small filters of random keys, fewer than 1 in 10,000 have no solution.
func TestNoSolution(t *testing.T) {
	rng := policytest.Rand(t, 13)
	s, without := new(solver), 0
	for range 6000 {
		for n := 1; n <= 10; n++ {
			if _, ok := s.solve(max(minSlots, n), randomHashes(rng, n)); !ok {
				without++
			}
		}
	}
	require.LessOrEqual(t, without, 6) // 0.5 on average
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
	} {
		got, ok := Size(c.n, c.bitsPerKey)
		require.True(t, ok)
		require.Equal(t, c.want, got, "%d keys at %v bits", c.n, c.bitsPerKey)
	}
	for _, n := range []int{-1, 0, 1<<28 + 1, math.MaxInt32} {
		_, ok := Size(n, 10)
		require.False(t, ok, "%d keys", n)
	}
	// Never more than asked for, and less only in small filters with parts of bits.
	for _, bitsPerKey := range settings {
		for n := 8; n < 1500; n++ {
			if size, ok := Size(n, bitsPerKey); ok {
				exact := max(8, float64(n)*bitsPerKey/8)
				require.Less(t, float64(size), exact+trailer+1)
				if n > soloKeys || bitsPerKey == math.Trunc(bitsPerKey) {
					require.GreaterOrEqual(t, float64(size), exact+soloTrailer)
				}
			}
		}
	}
}

// The example of FORMAT.md, each figure of it.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../FORMAT.md")
	require.NoError(t, err)
	var hashes []uint64
	for letter := byte('a'); letter <= 'i'; letter++ {
		hashes = append(hashes, xxh3.Hash([]byte{letter}))
	}
	filter := build(t, new(Builder), hashes, 9)
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

// The essay quotes the plain solver.
func TestEssay(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	reference := read("reference_test.go")
	_, body, _ := strings.Cut(reference, "ok bool) {\n\tpivots")
	body, _, _ = strings.Cut("\tpivots"+body, "\n}\n")
	require.Contains(t, read("doc.go"), "//"+strings.ReplaceAll(body, "\n", "\n//"))
}

// How often the essay says that a system is eliminated.
func TestEliminations(t *testing.T) {
	rng := policytest.Rand(t, 8)
	for _, c := range []struct {
		n           int
		want, slack float64
	}{{100, 1.13, 0.05}, {300, 1.15, 0.06}, {500, 1.28, 0.09}, {700, 1.47, 0.12}} {
		s, eliminations := new(solver), 0.0
		const systems = 1000
		for range systems {
			seed, ok := s.solve(c.n, randomHashes(rng, c.n))
			if !ok { // seldom
				seed = solverSeeds - 1
			}
			eliminations += float64(seed/variants+1) / systems
		}
		require.InDelta(t, c.want, eliminations, c.slack, "%d keys", c.n)
	}
}

// What padding and variants are worth, and shards: the share of systems of as many keys as slots
// that one elimination solves, with any variant.
func TestWorth(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rng := policytest.Rand(t, 9)
	const systems = 10_000
	for _, c := range []struct {
		n, padding, variants int
		want                 float64
	}{
		{700, padding, variants, 0.67}, {700, 2, variants, 0.60}, {700, 1, variants, 0.39},
		{700, 4, variants, 0.64}, {700, padding, 1, 0.216}, {700, 0, 1, 0.0174},
		{100, padding, variants, 0.89}, {1000, padding, variants, 0.48},
	} {
		solved := 0.0
		for range systems {
			if solvable(rng, c.n, c.padding, c.variants) {
				solved++
			}
		}
		t.Logf("%+v: %v", c, solved/systems)
		require.InDelta(t, c.want, solved/systems, 4*math.Sqrt(c.want*(1-c.want)/systems), "%+v", c)
	}
}

// solvable reports whether n random equations for n slots are independent with some variant.
func solvable(rng *rand.Rand, n, padding, variants int) bool {
	last := (n - spanSlots + 7) / 8
	starts, coeffs, varying := make([]int, n), make([]uint64, n), make([]uint64, n)
	for i := range n {
		drawn := rng.Intn(last+1+2*padding) - padding
		starts[i] = min(max(drawn, 0), last)
		coeffs[i] = rng.Uint64() >> beyond(uint(starts[i]), uint(n))
		if drawn < 0 {
			varying[i] = rng.Uint64()
		}
	}
	for variant := range variants {
		pivots, independent := make([]uint64, n), 0 // as in the package comment
		for i, c := range coeffs {
			c ^= varying[i] >> variant % (1 << variantSlots)
			for slot := 8*starts[i] + 63; c != 0; {
				zeros := bits.LeadingZeros64(c)
				slot, c = slot-zeros, c<<zeros
				if pivots[slot] == 0 {
					pivots[slot] = c
					independent++
					break
				}
				c ^= pivots[slot]
			}
		}
		if independent == n {
			return true
		}
	}
	return false
}

// How much longer builds of chosen hashes take than builds of random ones: by turns, the median.
func BenchmarkAttack(b *testing.B) {
	for _, n := range []int{100, 500, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var builder Builder
			var dst []byte
			build := func(hashes []uint64) float64 {
				parts, rounds := [][]uint64{hashes}, 1+100_000/n
				start := time.Now()
				for range rounds {
					dst, _ = builder.Build(dst[:0], parts, 10)
				}
				return time.Since(start).Seconds()
			}
			random, chosen := randomHashes(rand.New(rand.NewSource(14)), n), noSolution(n)
			var ratios []float64
			for range max(5, b.N) {
				ratios = append(ratios, build(chosen)/build(random))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// No key is lost in filters of all sizes from 1 to 2000, and of some large ones, at any setting.
func TestEverySize(t *testing.T) {
	rng := policytest.Rand(t, 15)
	var b Builder
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 1; n <= 2000; n += step {
		build(t, &b, randomHashes(rng, n), 2+38*rng.Float64()) // which looks up all keys
	}
	for range 4 {
		build(t, &b, randomHashes(rng, 10_000+rng.Intn(100_000)/step), 2+38*rng.Float64())
	}
}

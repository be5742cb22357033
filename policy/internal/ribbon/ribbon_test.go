package ribbon

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy/policytest"
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
// (BenchmarkChosenHashes), and the filter excludes nearly all other keys.
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
	}
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
				_, fp := draw(hash, multiplier(q*turns))
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

// The smallest filter has 12 bytes.
func TestSmallest(t *testing.T) {
	hashes := randomHashes(policytest.Rand(t, 8), 8)
	filter := build(t, new(Builder), hashes, 8)
	require.Len(t, filter, 12)
	info, ok := Parse(filter)
	require.True(t, ok)
	require.Equal(t, 8, info.Columns)
	require.InDelta(t, 1.0/256, info.FPP, 1e-9)
}

// The probability is that of all places where a window may begin.
func TestFPP(t *testing.T) {
	for slots := 8; slots < 800; slots += 1 + slots/9 {
		for size := slots; size < slots+slots/4; size++ {
			a, pass := areasOf(size, slots), 0.0
			for h := range uint64(4096) {
				columns := a.columns
				if start, _ := place(h<<52, uint(slots)); int(start)+windowBlocks <= a.wide {
					columns++
				}
				pass += math.Exp2(-float64(columns)) / 4096
			}
			require.InEpsilon(t, pass, fpp(size, slots), 0.01, "%d bytes, %d slots", size, slots)
		}
	}
}

// checkInvariants recounts what the solver claims after substitute.
func (s *solver) checkInvariants(t *testing.T, hashes []uint64, seed uint64) {
	t.Helper()
	value := func(slot int) uint64 { return s.values[slot/8][slot%8] % (1 << fingerprintBits) }
	pivots := 0
	for g := range s.quads {
		slots := uint64(0)
		for i, r := range s.pivots[g] {
			if r != (row{}) {
				slots |= 1 << i
			}
		}
		pivots += bits.OnesCount64(slots)
		for i, r := range s.pivots[g] {
			if slots>>i&1 == 1 { // the last slot of its row, and no other pivot of the group
				require.EqualValues(t, 1<<i, r.coeffs>>60&slots)
				require.Less(t, r.coeffs>>60, uint64(2)<<i)
			} else {
				require.Zero(t, value(4*g+i))
			}
		}
	}
	require.Equal(t, len(refHashes(hashes)), pivots, "a pivot for every key")
	for _, hash := range hashes {
		start, coeffs, fp := equation(hash, multiplier(seed), uint(s.slots))
		coeffs ^= turned(fp, seed)
		for i := range windowSlots {
			if coeffs>>i&1 == 1 {
				fp ^= value(8*int(start) + i)
			}
		}
		require.Zero(t, fp%(1<<fingerprintBits), "the equation of %#x", hash)
	}
}

func TestSolver(t *testing.T) {
	rng := policytest.Rand(t, 6)
	s := new(solver)
	for n := 0; n < 720; n += 1 + n/20 {
		for _, slots := range []int{max(8, n), n + 9, n + 64} {
			hashes := randomHashes(rng, n)
			hashes = append(hashes, hashes[:n/10]...) // repeated
			seed, ok := s.solve(slots, hashes)
			require.True(t, ok, "%d keys", n)
			s.checkInvariants(t, hashes, seed)
		}
	}
	_, ok := s.solve(99, randomHashes(rng, 100))
	require.False(t, ok, "too few slots")
}

// The rates are those that the columns give, within five standard errors; FPP predicts them, and
// they are below what is promised.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	promised := func(bitsPerKey float64, n int) float64 {
		switch {
		case n <= soloKeys:
			return math.Exp2(-bitsPerKey)
		case n < 5000:
			return 1.33 * math.Exp2(-bitsPerKey)
		}
		return 1.16 * math.Exp2(-bitsPerKey)
	}
	rng := policytest.Rand(t, 7)
	var b Builder
	for _, bitsPerKey := range []float64{4, 7, 7.5, 10} {
		for _, n := range []int{10, 20, 36, 64, 100, 500, 700, 701, 1000, 3000, 20_000} {
			if _, ok := Size(n, bitsPerKey); !ok {
				continue
			}
			asked, found, expected := 0.0, 0.0, 0.0
			for asked < 500_000 {
				filter := build(t, &b, randomHashes(rng, n), bitsPerKey)
				info, ok := Parse(filter)
				require.True(t, ok)
				require.InEpsilon(t, n, info.Keys, 0.03)
				queries := max(20_000, n)
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
			require.InEpsilon(t, expected/asked, FPP(n, bitsPerKey), 0.03, "%v bits, %d keys",
				bitsPerKey, n)
			size, _ := Size(n, bitsPerKey)
			limit := math.Exp2(-8 * float64(size-soloTrailer) / float64(n))
			require.Greater(t, found, limit*asked-slack, "no filter can have fewer")
			if bitsPerKey == math.Trunc(bitsPerKey) && bitsPerKey > 4 {
				require.LessOrEqual(t, expected/asked, promised(bitsPerKey, n)*1.0001,
					"%v bits, %d keys", bitsPerKey, n)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		n          int
		bitsPerKey float64
		want       int
	}{
		{8, 10, 10 + 4}, {36, 10, 45 + 4}, {100, 9.5, 113 + 4}, {128, 9.5, 152 + 4},
		{700, 10, 875 + 4}, {701, 10, 877 + 8}, {10_000, 10.25, 12_813 + 8}, {1 << 28, 40, 5<<28 + 8},
	} {
		got, ok := Size(c.n, c.bitsPerKey)
		require.True(t, ok)
		require.Equal(t, c.want, got, "%d keys at %v bits", c.n, c.bitsPerKey)
	}
	for _, n := range []int{-1, 0, 7, 1<<28 + 1, math.MaxInt32} {
		_, ok := Size(n, 10)
		require.False(t, ok, "%d keys", n)
	}
	_, ok := Size(28, 2) // 7 bytes
	require.False(t, ok)
	// Never more than asked for, and less only in small filters with parts of bits.
	for _, bitsPerKey := range settings {
		for n := 8; n < 1500; n++ {
			if size, ok := Size(n, bitsPerKey); ok {
				exact := float64(n) * bitsPerKey / 8
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
		v%512, f>>41%16))
	_, coeffs, fp := refEquation(hash, 0, 9)
	require.EqualValues(t, 1<<3|1<<7|1<<8, coeffs)
	require.Contains(t, string(text), fmt.Sprintf("fingerprint are %09b.", fp%512))
	z, ok := refSolve(hashes, 0, 9)
	require.True(t, ok)
	require.Contains(t, string(text), fmt.Sprintf(
		"slot 3: %09b    slot 7: %09b    slot 8: %09b    sum: %09b\n",
		z[3]%512, z[7]%512, z[8]%512, (z[3]^z[7]^z[8])%512))
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
			eliminations += float64(seed/turns+1) / systems
		}
		require.InDelta(t, c.want, eliminations, c.slack, "%d keys", c.n)
	}
}

// What padding and turning are worth: the share of 700 random keys' systems that one elimination
// solves, with any turn.
func TestWorth(t *testing.T) {
	rng := policytest.Rand(t, 9)
	const systems = 500
	for _, c := range []struct {
		padding, turns int
		want           float64
	}{{padding, turns, 0.67}, {1, turns, 0.37}, {4, turns, 0.67}, {padding, 1, 0.25}} {
		solved := 0.0
		for range systems {
			if solvable(rng, 700, c.padding, c.turns) {
				solved++
			}
		}
		t.Logf("padding %d, %d turns: %v", c.padding, c.turns, solved/systems)
		require.InDelta(t, c.want, solved/systems, 4*math.Sqrt(c.want*(1-c.want)/systems),
			"padding %d, %d turns", c.padding, c.turns)
	}
}

// solvable reports whether n random equations for n slots are independent with some turn.
func solvable(rng *rand.Rand, n, padding, turns int) bool {
	last := (n - windowSlots + 7) / 8
	starts, coeffs, turning := make([]int, n), make([]uint64, n), make([]uint64, n)
	for i := range n {
		drawn := rng.Intn(last+1+2*padding) - padding
		starts[i] = min(max(drawn, 0), last)
		coeffs[i] = inside(rng.Uint64(), uint(starts[i]), uint(n))
		if drawn < 0 {
			turning[i] = rng.Uint64()
		}
	}
	for turn := range turns {
		pivots, independent := make([]uint64, n), 0 // as in the package comment
		for i, c := range coeffs {
			c ^= turning[i] >> turn % (1 << turnSlots)
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

// What builds of chosen hashes take.
func BenchmarkChosenHashes(b *testing.B) {
	for _, c := range chosenHashes() {
		for _, n := range []int{50, 700, 20_000} {
			hashes := [][]uint64{c.hashes(n)}
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				var builder Builder
				var dst []byte
				for range b.N {
					dst, _ = builder.Build(dst[:0], hashes, 10)
				}
			})
		}
	}
}

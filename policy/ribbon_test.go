package policy

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// ribbonOf returns the filter of hashes.
func ribbonOf(r *Ribbon, hashes []uint64) []byte {
	b := r.NewBuilder().(*ribbonBuilder)
	for _, x := range hashes {
		if b.full() {
			b.grow()
		}
		b.put(x)
	}
	return b.Finish(nil)
}

func requireContains(t *testing.T, filter []byte, hashes []uint64) (s ribbonShape) {
	t.Helper()
	require.Equal(t, byte(EncodingRibbon), filter[len(filter)-1])
	require.True(t, s.parse(filter))
	for i, x := range hashes {
		if !s.contains(filter, x) {
			require.Fail(t, "a key is lost", "%d of %d", i, len(hashes))
		}
	}
	return s
}

func randomHashes(rng *rand.Rand, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	return hashes
}

// The last column reaches into the second upper layer, but not to its end.
func TestRibbonLastColumn(t *testing.T) {
	hashes := randomHashes(policytest.Rand(t, 9), 100_000)
	s := requireContains(t, ribbonOf(policytest.Must(NewRibbon(10.04)), hashes), hashes)
	require.Len(t, s.upper, 2*3)
	before := s.last + ribbonBlock*upperBlocks(s.upper)
	require.Greater(t, s.part, before)
	require.Less(t, s.part, before+ribbonBlock*upperBlocks(s.upper[3:]))
}

// Every number of keys up to 200, many up to 3000, and larger ones at many settings.
func TestRibbonLosesNoKey(t *testing.T) {
	rng := policytest.Rand(t, 1)
	hashes := randomHashes(rng, 3000)
	for n := 0; n < len(hashes); n += 1 + n/200 {
		r := policytest.Must(NewRibbon([]float64{10, 10, 2, 40, 7.3}[n%5]))
		filter := ribbonOf(r, hashes[:n])
		require.EqualValues(t, r.FilterSize(n), len(filter), "%d keys", n)
		if filter[len(filter)-1] == byte(EncodingRibbon) {
			requireContains(t, filter, hashes[:n])
		} else {
			require.LessOrEqual(t, r.FilterSize(n), uint64(7), "%d keys", n)
		}
	}
	for bitsPerKey := 2.0; bitsPerKey <= 40; bitsPerKey += 1.37 {
		n := 20 + rng.Intn(40_000)
		hashes := randomHashes(rng, n)
		requireContains(t, ribbonOf(policytest.Must(NewRibbon(bitsPerKey)), hashes), hashes)
	}
}

func TestRibbonIsNeverLargerThanBlocked(t *testing.T) {
	for bitsPerKey := 2.0; bitsPerKey <= 40; bitsPerKey += 0.25 {
		r := policytest.Must(NewRibbon(bitsPerKey))
		blocked := policytest.Must(NewBlockedBloom(bitsPerKey))
		for n := 0; n < 3000; n += 1 + n/20 {
			require.LessOrEqual(t, r.FilterSize(n), blocked.FilterSize(n), "%v bits, %d keys",
				bitsPerKey, n)
		}
	}
	require.Equal(t, policytest.Must(NewBlockedBloom(10)).FilterSize(math.MaxInt32),
		policytest.Must(NewRibbon(10)).FilterSize(math.MaxInt32), "too many keys for ribbon")
}

// A second implementation gives the same bytes.
func TestRibbonReference(t *testing.T) {
	rng := policytest.Rand(t, 3)
	for _, bitsPerKey := range []float64{2, 3.1, 7, 9.99, 10, 16, 23.7, 40} {
		r := policytest.Must(NewRibbon(bitsPerKey))
		for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 13, 20, 36, 63, 64, 65, 66, 67, 72, 90, 103,
			104, 110, 127, 128, 200, 255, 256, 257, 420, 1000} {
			keys := policytest.Keys(rng, n)
			require.Equal(t, referenceRibbon(bitsPerKey, keys), r.AppendFilter(nil, keys),
				"%v bits, %d keys", bitsPerKey, n)
		}
	}
	for _, n := range []int{2000, 2001, 2500, 5000} {
		keys := policytest.Keys(rng, n)
		require.Equal(t, referenceRibbon(10.3, keys),
			policytest.Must(NewRibbon(10.3)).AppendFilter(nil, keys), "%d keys", n)
	}
}

// The example of FORMAT.md, each figure of it.
func TestRibbonExample(t *testing.T) {
	h := hashesOf([][]byte{[]byte("hello")})[0]
	filter := policytest.Must(NewRibbon(40)).AppendFilter(nil, [][]byte{[]byte("hello")})
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	require.Contains(t, string(format),
		fmt.Sprintf("H      = 0x%x\n    print  = 0x%x\n", h, refPrint(h)))
	require.Contains(t, string(format), fmt.Sprintf("filter: % x\n", filter))
	require.Zero(t, refPrint(h)>>41&1)
	require.EqualValues(t, 1, refPrint(h)>>43&1)
	s, seed, _, ok := refRibbonShape(filter)
	require.True(t, ok)
	require.Equal(t, [...]int{1, 1, 32, 0, 4, 1},
		[...]int{s.m, s.t, s.c, s.p, s.payload, int(seed)})
}

// The order of the keys, repetitions and equal hashes do not matter.
func TestRibbonOrder(t *testing.T) {
	r, rng := policytest.Must(NewRibbon(10)), policytest.Rand(t, 4)
	for _, n := range []int{36, 300, 2500, 10_000} {
		hashes := randomHashes(rng, n)
		want := ribbonOf(r, hashes)
		slices.Reverse(hashes)
		hashes = append(hashes, hashes[:n/2]...)
		require.Equal(t, want, ribbonOf(r, hashes), "%d keys", n)
	}
}

// The rates are those that the columns give, in filters of all sizes, within five standard errors;
// and at 10 bits per key what is promised, in per cent.
func TestRibbonRates(t *testing.T) {
	promised := map[int]float64{20: 0.155, 36: 0.135, 64: 0.13, 100: 0.13, 500: 0.115}
	rng := policytest.Rand(t, 5)
	for _, bitsPerKey := range []float64{4, 7.5, 10} {
		r := policytest.Must(NewRibbon(bitsPerKey))
		for _, n := range []int{20, 36, 64, 100, 500, 1000, 3000, 20_000} {
			asked, found, expected := 0.0, 0.0, 0.0
			for asked < 400_000 {
				filter := ribbonOf(r, randomHashes(rng, n))
				keys, fpp := mustParse(t, filter).Estimate()
				require.InEpsilon(t, n, keys, 0.03)
				s := requireContains(t, filter, nil)
				queries := max(20_000, n)
				for range queries {
					if s.contains(filter, rng.Uint64()) {
						found++
					}
				}
				asked += float64(queries)
				expected += fpp * float64(queries)
			}
			slack := 5 * math.Sqrt(expected)
			require.InDelta(t, expected, found, slack, "%v bits, %d keys", bitsPerKey, n)
			if most, found := promised[n]; found && bitsPerKey == 10 {
				require.Less(t, expected, most/100*asked, "%d keys", n)
			}
			// No filter can have fewer.
			require.Greater(t, found, math.Pow(2, -bitsPerKey)*asked-slack)
		}
	}
}

// Hashes that somebody chose: no key is lost, and where the equations have no solution, the filter
// is a blocked one of the distinct hashes.
func TestRibbonChosenHashes(t *testing.T) {
	r := policytest.Must(NewRibbon(10))
	for name, choose := range map[string]func(i uint64) uint64{
		"one start":    func(i uint64) uint64 { return i * 0x9e3779b9 },
		"ascending":    func(i uint64) uint64 { return i },
		"all at end":   func(i uint64) uint64 { return math.MaxUint64 - i<<20 },
		"two starts":   func(i uint64) uint64 { return i<<63 | i },
		"bands alike":  func(i uint64) uint64 { return i<<32 | i },
		"high bits":    func(i uint64) uint64 { return i << 44 },
		"equal hashes": func(i uint64) uint64 { return i % 2 },
	} {
		for _, n := range []int{50, 500, 5000, 200_000} {
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = choose(uint64(i))
			}
			filter := ribbonOf(r, hashes)
			slices.Sort(hashes)
			hashes = slices.Compact(hashes)
			if filter[len(filter)-1] == byte(EncodingRibbon) {
				requireContains(t, filter, hashes)
				continue
			}
			require.Equal(t, referenceBlockedOf(10, hashes), filter, "%s, %d keys", name, n)
		}
	}
}

// Any bytes before a ribbon filter's last one: no panic, and the answers of the format's text.
func FuzzRibbon(f *testing.F) {
	r := policytest.Must(NewRibbon(10))
	for _, n := range []int{5, 36, 100, 300, 2500} {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = mix(uint64(i), 1)
		}
		f.Add(ribbonOf(r, hashes), []byte("key"))
	}
	f.Fuzz(func(t *testing.T, filter, key []byte) {
		if len(filter) < 3 {
			t.Skip()
		}
		requireRibbonAnswers(t, filter, append(policytest.AbsentKeys(3), key))
	})
}

// requireRibbonAnswers makes of a filter's last bytes the trailer of a ribbon filter, if there is a
// check byte that fits them, and compares all readers with the reference.
func requireRibbonAnswers(t *testing.T, filter []byte, keys [][]byte) {
	t.Helper()
	n := len(filter)
	filter[n-1] = byte(EncodingRibbon)
	want, seed, check, ok := refRibbonShape(filter)
	if ok {
		filter[n-2] = check
	}
	var s ribbonShape
	require.Equal(t, ok, s.parse(filter), "% x", filter[max(0, n-30):])
	requireAnswers(t, filter, keys)
	if !ok {
		return
	}
	require.Equal(t, [...]int{want.payload, want.n, want.c, want.p, want.bumps, want.rest},
		[...]int{s.payload, s.blocks, s.columns, s.part, s.bumps, s.flat})
	_, fpp := mustParse(t, filter).Estimate()
	require.True(t, fpp > 0 && fpp <= 1, "%v", fpp)
	for i := range uint64(8) { // the ends of all layers among them
		for _, x := range []uint64{i << 61, math.MaxUint64 - i<<61, i << 61 >> 32, 1<<32 - 1 - i} {
			require.Equal(t, want.mayContain(filter, int(seed), x), s.contains(filter, x))
		}
	}
}

// fillRibbon fills a filter at random, such that it often is a ribbon filter but for the check.
func fillRibbon(rng *rand.Rand, filter []byte) {
	rng.Read(filter)
	n := len(filter)
	if n > 12 && rng.Intn(2) == 0 { // upper layers, mostly small ones
		layers := rng.Intn(min(10, n/8))
		filter[n-4] = byte(ribbonDeep + layers)
		for i := range layers {
			b := filter[n-7-3*i:]
			b[1], b[2] = 0, 0
			if rng.Intn(4) > 0 {
				b[0] %= 16
			}
		}
		filter[n-5-3*layers] %= 144
	} else if n > 4 && rng.Intn(2) == 0 {
		filter[n-4] %= 144
	}
}

func TestRibbonAnyTrailer(t *testing.T) {
	rng, fit := policytest.Rand(t, 6), 0
	for range 4000 {
		filter := make([]byte, 3+rng.Intn(600))
		fillRibbon(rng, filter)
		requireRibbonAnswers(t, filter, policytest.Keys(rng, 3))
		if _, err := Parse(filter); err == nil {
			fit++
		}
	}
	require.InDelta(t, 2000, fit, 1500, "filters that fit, and others")
}

// Sound filters with a byte changed, whether the check sees it or not, and cut.
func TestRibbonDamage(t *testing.T) {
	rng := policytest.Rand(t, 7)
	r := policytest.Must(NewRibbon(3.3))
	for _, n := range []int{13, 40, 66, 200, 2100} {
		keys := policytest.Keys(rng, n)
		filter := r.AppendFilter(nil, keys)
		asked := keys[:4]
		for range 400 {
			at := max(0, len(filter)-1-rng.Intn(rng.Intn(len(filter))+1))
			damaged := slices.Clone(filter)
			damaged[at] ^= byte(1 + rng.Intn(255))
			requireAnswers(t, damaged, asked)
			requireRibbonAnswers(t, damaged, asked)
		}
		for cut := 1; cut < 60 && cut < len(filter); cut++ {
			requireAnswers(t, filter[:len(filter)-cut], asked)
			requireAnswers(t, filter[cut:], asked)
			if len(filter)-cut > 2 {
				requireRibbonAnswers(t, slices.Clone(filter[cut:]), asked)
			}
		}
	}
}

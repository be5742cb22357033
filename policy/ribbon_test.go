package policy

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

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

func TestNewRibbonRefusesMisuse(t *testing.T) {
	for _, bitsPerKey := range []float64{0, 1.99, 40.01, -1, math.NaN(), math.Inf(1)} {
		r, err := NewRibbon(bitsPerKey)
		require.ErrorContains(t, err, "pass a number from 2 to 40", "%v", bitsPerKey)
		require.Nil(t, r)
	}
	_, err := NewRibbon(10, WithName(""))
	require.ErrorContains(t, err, "name")
	require.Panics(t, func() { new(Ribbon).NewBuilder() })
	require.Panics(t, func() { new(Ribbon).FilterSize(1) })
	require.Panics(t, func() { new(Ribbon).AppendFilter(nil, nil) })
}

// Every number of keys up to 3000, and larger ones at many settings.
func TestRibbonLosesNoKey(t *testing.T) {
	rng := policytest.Rand(t, 1)
	hashes := randomHashes(rng, 3000)
	for n := range hashes {
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
		r, blocked := policytest.Must(NewRibbon(bitsPerKey)), policytest.Must(NewBlockedBloom(bitsPerKey))
		for n := 0; n < 3000; n += 1 + n/20 {
			require.LessOrEqual(t, r.FilterSize(n), blocked.FilterSize(n), "%v bits, %d keys", bitsPerKey, n)
		}
	}
	require.Equal(t, policytest.Must(NewBlockedBloom(10)).FilterSize(math.MaxInt32), policytest.Must(NewRibbon(10)).FilterSize(math.MaxInt32))
}

// A second implementation gives the same bytes.
func TestRibbonReference(t *testing.T) {
	rng := policytest.Rand(t, 3)
	for _, bitsPerKey := range []float64{2, 3.1, 7, 9.99, 10, 16, 23.7, 40} {
		r := policytest.Must(NewRibbon(bitsPerKey))
		for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 13, 20, 36, 63, 64, 65, 66, 67, 72, 90, 103, 104, 110, 127, 128, 200, 255, 256, 257, 420, 1000} {
			keys := policytest.Keys(rng, n)
			require.Equal(t, referenceRibbon(bitsPerKey, keys), r.AppendFilter(nil, keys), "%v bits, %d keys", bitsPerKey, n)
		}
	}
	for _, n := range []int{2000, 2001, 2500, 5000} {
		keys := policytest.Keys(rng, n)
		require.Equal(t, referenceRibbon(10.3, keys), policytest.Must(NewRibbon(10.3)).AppendFilter(nil, keys), "%d keys", n)
	}
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

// The rates are those that the columns give, in filters of all sizes, within five standard errors.
func TestRibbonRates(t *testing.T) {
	rng := policytest.Rand(t, 5)
	for _, bitsPerKey := range []float64{4, 7.5, 10} {
		r := policytest.Must(NewRibbon(bitsPerKey))
		for _, n := range []int{20, 36, 64, 100, 500, 1000, 3000, 20_000} {
			asked, found, expected := 0, 0, 0.0
			for asked < 1_000_000 {
				filter := ribbonOf(r, randomHashes(rng, n))
				info := policytest.Must(Parse(filter))
				keys, fpp := info.Estimate()
				require.InEpsilon(t, n, keys, 0.03)
				s := requireContains(t, filter, nil)
				queries := max(20_000, n)
				for range queries {
					if s.contains(filter, rng.Uint64()) {
						found++
					}
				}
				asked += queries
				expected += fpp * float64(queries)
			}
			require.InDelta(t, expected, found, 5*math.Sqrt(expected), "%v bits, %d keys", bitsPerKey, n)
			limit := math.Pow(2, -bitsPerKey) * float64(asked) // no filter can have fewer
			require.Greater(t, float64(found), limit*0.9)
			if n >= 500 {
				require.Less(t, float64(found), limit*1.35)
			}
		}
	}
}

// Hashes that somebody chose: the time is bounded, and no key is lost.
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
			start := time.Now()
			filter := ribbonOf(r, hashes)
			require.Less(t, time.Since(start), 20*time.Second, "%s, %d keys", name, n)
			if filter[len(filter)-1] == byte(EncodingRibbon) {
				requireContains(t, filter, hashes)
				continue
			}
			payload, k, ok := blockedParts(filter)
			require.True(t, ok)
			slices.Sort(hashes)
			want := make([]byte, len(payload))
			setBlocked(want, slices.Compact(hashes), k)
			require.Equal(t, want, payload, "%s, %d keys", name, n)
		}
	}
}

// Any trailer: no panic, and what does not fit may contain everything.
func FuzzRibbon(f *testing.F) {
	r := policytest.Must(NewRibbon(10))
	for _, n := range []int{5, 36, 100, 300, 2500} {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = mix(uint64(i), 1)
		}
		f.Add(ribbonOf(r, hashes), []byte("key"))
	}
	f.Fuzz(func(t *testing.T, filter, key []byte) { tryRibbon(t, filter, key) })
}

// tryRibbon reads bytes as a ribbon filter whose check byte is right.
func tryRibbon(t *testing.T, filter, key []byte) {
	if len(filter) < 4 {
		return
	}
	filter = append(slices.Clone(filter)[:len(filter):len(filter)], 0, byte(EncodingRibbon))
	parsed := false
	for check := range 256 {
		filter[len(filter)-2] = byte(check)
		var s ribbonShape
		out := make([]bool, fewKeys)
		MayContainMany(filter, slices.Repeat([][]byte{key}, fewKeys), out)
		require.NotContains(t, out, !MayContain(filter, key))
		if !s.parse(filter) {
			require.True(t, out[0])
			continue
		}
		require.False(t, parsed, "two check bytes are right")
		parsed = true
		info := policytest.Must(Parse(filter))
		_, fpp := info.Estimate()
		require.True(t, fpp > 0 && fpp <= 1)
		for i := range uint64(64) { // the ends of all layers among them
			s.contains(filter, i<<58)
			s.contains(filter, math.MaxUint64-i<<58)
		}
	}
}

func TestRibbonAnyTrailer(t *testing.T) {
	rng := policytest.Rand(t, 6)
	for range 3000 {
		filter := make([]byte, 8+rng.Intn(600))
		rng.Read(filter)
		if n := len(filter); rng.Intn(2) == 0 { // upper layers
			layers := rng.Intn(10)
			filter[n-2] = byte(ribbonDeep + layers)
			for i := n - 3; i > max(0, n-3-3*layers); i-- {
				if (n-3-i)%3 != 2 || rng.Intn(4) > 0 {
					filter[i] &= byte(-(i % 2))
				}
			}
		}
		tryRibbon(t, filter, []byte(fmt.Sprint(rng.Int())))
	}
}

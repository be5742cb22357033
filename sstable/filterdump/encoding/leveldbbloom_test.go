package encoding

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// seeded returns random numbers from a fixed seed, which it prints if the test fails.
func seeded(t testing.TB, seed int64) *rand.Rand {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

func randomKey(rng *rand.Rand) []byte {
	key := make([]byte, 12)
	rng.Read(key)
	return key
}

// randomFilter returns a filter of n random keys.
func randomFilter(t testing.TB, rng *rand.Rand, bitsPerKey float64, n int) []byte {
	bloom, err := policy.NewBloom(bitsPerKey)
	require.NoError(t, err)
	builder := bloom.NewBuilder()
	for range n {
		builder.Add(randomKey(rng))
	}
	return builder.Finish(nil)
}

// The estimates against filters of random keys: their mean must lie within the model's stated error, give or take five
// standard errors of the simulation. ratio bounds how many times the estimated FPP the measured rate is.
func TestEstimates(t *testing.T) {
	for _, c := range []struct {
		n, filters, asked int
		bitsPerKey        float64
		keysWithin        float64
		ratioFrom         float64
		ratioTo           float64
	}{
		{20, 4000, 500, 10, 0.02, 1.35, 1.45},
		{20, 4000, 500, 20, 0.02, 15, 19},
		{1000, 200, 10000, 10, 0.02, 1, 1.1},
		{1000, 200, 2000, 1.5, 0.02, 0.98, 1.02}, // k = 1: the model is exact
		{1756, 200, 2000, 3, 0.02, 0.98, 1.02},   // k = 2: no probe with j = 2
		{1000, 200, 2000, 3, 0.05, 1.15, 1.25},   // the same, but for the number of bits: j = 1 forms a pattern
		{100_000, 4, 400_000, 10, 0.02, 1.2, 1.35},
		{1_000_000, 1, 500_000, 10, 0.02, 1.15, 1.3},
		{1_000_000, 1, 500_000, 20, 0.02, 1, 1.5}, // most of these have the hash of a key
		{260_003, 4, 100_000, 3, 0.02, 0.98, 1.02},
		{150_000, 4, 100_000, 5, 0.1, 1.2, 1.6}, // the values of j = 2 form a pattern
	} {
		if testing.Short() && c.n >= 100_000 {
			continue
		}
		rng := seeded(t, int64(c.n))
		var keys, keysSquared, fpp float64
		passed := 0
		for range c.filters {
			filter := randomFilter(t, rng, c.bitsPerKey, c.n)
			s, ok := LevelDBBloom.Measure(filter)
			require.True(t, ok)
			keys += s.Distinct
			keysSquared += s.Distinct * s.Distinct
			fpp += s.FPP
			for range c.asked {
				if LevelDBBloom.MayContain(filter, randomKey(rng)) {
					passed++
				}
			}
		}
		filters, n := float64(c.filters), float64(c.n)
		mean := keys / filters
		// The spread of one estimate is below sqrt(n), as the keys' number would have to vary to explain it.
		slack := 5 * math.Sqrt(n/filters)
		t.Logf("%d keys at %v bits: %.1f keys estimated; FPP %.6f estimated, %d of %d passed: ratio %.3f",
			c.n, c.bitsPerKey, mean, fpp/filters, passed, c.filters*c.asked, float64(passed)/float64(c.asked)/fpp)
		require.InDelta(t, n, mean, c.keysWithin*n+slack)

		expected := fpp * float64(c.asked)
		noise := 5 * math.Sqrt(c.ratioTo*expected)
		require.Greater(t, float64(passed), c.ratioFrom*expected-noise, "%d keys at %v bits", c.n, c.bitsPerKey)
		require.Less(t, float64(passed), c.ratioTo*expected+noise, "%d keys at %v bits", c.n, c.bitsPerKey)
	}
}

// Bits are counted as big.Int does, whatever the length modulo 8.
func TestMeasureCounts(t *testing.T) {
	rng := seeded(t, 1)
	for bytes := 1; bytes < 40; bytes++ {
		array := make([]byte, bytes)
		rng.Read(array)
		ones := int64(0)
		for n, i := new(big.Int).SetBytes(array), 0; i < n.BitLen(); i++ {
			ones += int64(n.Bit(i))
		}
		k := 1 + rng.Intn(30)
		s, ok := LevelDBBloom.Measure(append(array, byte(k)))
		require.True(t, ok)
		require.Equal(t, Stats{K: k, Bits: int64(8 * bytes), Set: ones, Distinct: s.Distinct, FPP: s.FPP}, s)
	}
}

func TestMeasureExtremes(t *testing.T) {
	for _, k := range []byte{1, 2, 3, 30} {
		s, ok := LevelDBBloom.Measure([]byte{0, 0, 0, k})
		require.True(t, ok)
		require.Equal(t, Stats{K: int(k), Bits: 24}, s)

		s, ok = LevelDBBloom.Measure([]byte{0xff, 0xff, 0xff, k})
		require.True(t, ok)
		require.Equal(t, Stats{K: int(k), Bits: 24, Set: 24, Distinct: math.Inf(1), FPP: 1}, s)

		// One bit less than all is a large number of keys, not the end of the bisection.
		s, ok = LevelDBBloom.Measure([]byte{0xff, 0xff, 0xfe, k})
		require.True(t, ok)
		require.InDelta(t, math.Log(24)*24/float64(k), s.Distinct, 0.03*s.Distinct)
		require.InDelta(t, math.Pow(23.0/24, float64(k)), s.FPP, 1e-4)
	}
	for _, filter := range [][]byte{nil, {}, {6}, {0xff, 0}, {0xff, 31}, {0xff, 255}} {
		s, ok := LevelDBBloom.Measure(filter)
		require.False(t, ok, "%x", filter)
		require.Zero(t, s)
	}
}

// A filter of one key has those bits set that Explain shows, and no others; and filters of many keys answer what the
// probes that Explain shows add up to.
func TestExplain(t *testing.T) {
	rng := seeded(t, 2)
	for _, n := range []int{1, 30, 5000} {
		for _, bitsPerKey := range []float64{1, 10, 100} {
			bloom, err := policy.NewBloom(bitsPerKey)
			require.NoError(t, err)
			for range 200 / min(n, 100) {
				key := randomKey(rng)
				keys := [][]byte{key}
				for len(keys) < n {
					keys = append(keys, randomKey(rng))
				}
				filter := bloom.AppendFilter(nil, keys)
				x := LevelDBBloom.Explain(filter, key)
				require.Equal(t, uint64(policy.Hash(key)), x.Hash)
				require.Equal(t, 32, x.HashBits)
				require.Len(t, x.Probes, int(filter[len(filter)-1]))
				require.True(t, x.MayContain)
				shown := make([]byte, len(filter)-1)
				for _, p := range x.Probes {
					require.True(t, p.Set)
					shown[p.Bit/8] |= 1 << (p.Bit % 8)
				}
				if n == 1 {
					require.Equal(t, filter[:len(filter)-1], shown)
				}

				x = LevelDBBloom.Explain(filter, randomKey(rng))
				all := true
				for _, p := range x.Probes {
					require.Equal(t, filter[p.Bit/8]>>(p.Bit%8)&1 == 1, p.Set)
					all = all && p.Set
				}
				require.Equal(t, all, x.MayContain)
				require.Empty(t, x.Note)
			}
		}
	}
}

func TestExplainOddFilters(t *testing.T) {
	for _, c := range []struct {
		filter     []byte
		mayContain bool
		note       string
	}{
		{nil, false, "the filter is shorter than 2 bytes: it matches no key"},
		{[]byte{6}, false, "the filter is shorter than 2 bytes: it matches no key"},
		{[]byte{0, 0}, true, "k = 0: no probe says no, and every key matches"},
		{[]byte{0, 31}, true, "k = 31 is reserved for other encodings: every key matches"},
		{[]byte{0, 255}, true, "k = 255 is reserved for other encodings: every key matches"},
	} {
		key := []byte("hello")
		require.Equal(t, Explanation{Hash: 0xf795964e, HashBits: 32, MayContain: c.mayContain, Note: c.note},
			LevelDBBloom.Explain(c.filter, key), "%x", c.filter)
		require.Equal(t, c.mayContain, policy.MayContain(c.filter, key))
	}
}

func TestByName(t *testing.T) {
	for name, want := range map[string]Encoding{
		"leveldb.BuiltinBloomFilter2": LevelDB,
		"leveldb.BuiltinBloomFilter":  LevelDB,
		"rocksdb.BuiltinBloomFilter":  PebbleBloom,
	} {
		e, known := ByName(name)
		require.True(t, known, name)
		require.Equal(t, want, e, name)
	}
	for _, name := range []string{"", "leveldb.BuiltinBloomFilter3", "leveldb", "rocksdb.BuiltinBloomFilter2"} {
		e, known := ByName(name)
		require.False(t, known, name)
		require.Nil(t, e, name)
	}
}

// The hash is the key's alone: who wants only that needs no filter.
func TestHashWithoutFilter(t *testing.T) {
	rng := seeded(t, 3)
	filter := randomFilter(t, rng, 10, 100)
	for _, e := range []Encoding{LevelDBBloom, PebbleBloom, BlockedBloom} {
		for range 100 {
			key := randomKey(rng)
			require.Equal(t, e.Explain(filter, key).Hash, e.Explain(nil, key).Hash, "%v, key %x", e, key)
		}
	}
}

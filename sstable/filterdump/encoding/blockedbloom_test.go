package encoding

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

func blockedPolicy(t testing.TB, bitsPerKey float64) *policy.BlockedBloom {
	p, err := policy.NewBlockedBloom(bitsPerKey)
	require.NoError(t, err)
	return p
}

// randomBlocked returns a filter of n random keys of 0 to 39 bytes, and the keys.
func randomBlocked(t testing.TB, rng *rand.Rand, bitsPerKey float64, n int) (filter []byte, keys [][]byte) {
	keys = randomKeys(rng, n)
	return blockedPolicy(t, bitsPerKey).AppendFilter(nil, keys), keys
}

// The worked example of package policy's description.
func TestBlockedBloomExample(t *testing.T) {
	filter := []byte{0x2f, 0x04, 0x06, 0x01, 0x42}
	x := LevelDB.Explain(filter, []byte("hello"))
	require.Equal(t, Explanation{
		Hash: 0x9555e8555c62dcfd, HashBits: 64, MayContain: true, Note: "the bits are one line of 16",
		Probes: []Probe{{5, true}, {1, true}, {2, true}, {0, true}, {10, true}, {3, true}},
	}, x)
	s, ok := LevelDB.Measure(filter)
	require.True(t, ok)
	require.InDelta(t, math.Pow(6.0/16, 6), s.FPP, 1e-12)
	require.Equal(t, Stats{K: 6, Bits: 16, Set: 6, Distinct: s.Distinct, FPP: s.FPP}, s)
}

// What Explain shows, from the description of the format, is what package policy's code does: the bits of all keys together
// are the filter, and an absent key is answered by its own bits.
func TestBlockedBloomIsThePolicys(t *testing.T) {
	rng := seeded(t, 1)
	single, divided := 0, 0
	for _, bitsPerKey := range []float64{0.5, 1, 3, 7.9, 10, 16, 20, 41, 300} {
		for _, n := range []int{0, 1, 2, 20, 64, 1023, 1024, 1025, 3000} {
			filter, keys := randomBlocked(t, rng, bitsPerKey, n)
			require.Equal(t, BlockedBloom, LevelDB.Of(filter))
			shown := make([]byte, len(filter)-3)
			for _, key := range keys {
				x := LevelDB.Explain(filter, key)
				require.Len(t, x.Probes, int(filter[len(filter)-3]))
				require.True(t, x.MayContain)
				for _, p := range x.Probes {
					shown[p.Bit/8] |= 1 << (p.Bit % 8)
					require.True(t, p.Set)
				}
			}
			require.Equal(t, filter[:len(filter)-3], shown, "%d keys at %v bits", n, bitsPerKey)
			if x := LevelDB.Explain(filter, nil); x.LineBits > 0 {
				divided++
				require.EqualValues(t, 512, x.LineBits)
				require.Regexp(t, fmt.Sprintf(`^all probes lie in line \d+ of %d, which has 512 bits$`, len(shown)/64), x.Note)
			} else {
				single++
				require.Equal(t, fmt.Sprintf("the bits are one line of %d", 8*len(shown)), x.Note)
			}
			requireAnswers(t, rng, filter)
		}
	}
	require.Greater(t, single, 10)
	require.Greater(t, divided, 10)
}

func TestBlockedBloomOddFilters(t *testing.T) {
	filter := func(payload int, end ...byte) []byte { return append(bytes.Repeat([]byte{0}, payload), end...) }
	for _, c := range []struct {
		filter     []byte
		name, note string
	}{
		{filter(0, 6, 1, 0x42), "blocked Bloom, version 1", "its length does not fit: every key may be contained"},
		{filter(0, 1, 0x42), "blocked Bloom, version 1", "its length does not fit: every key may be contained"},
		{filter(1281, 6, 1, 0x42), "blocked Bloom, version 1", "its length does not fit: every key may be contained"},
		{filter(2561, 6, 1, 0x42), "blocked Bloom, version 1", "its length does not fit: every key may be contained"},
		{filter(10, 0, 1, 0x42), "blocked Bloom, version 1", "k = 0: no probe says no, and every key matches"},
		{filter(10, 6, 2, 0x42), "blocked Bloom of unknown version 2", "blocked Bloom of unknown version 2: every key may be contained"},
		{filter(10, 6, 0, 0x42), "blocked Bloom of unknown version 0", "blocked Bloom of unknown version 0: every key may be contained"},
		{filter(10, 6, 1, 0x51), "unknown encoding 0x51", "unknown encoding 0x51: every key may be contained"},
		{filter(10, 31), "unknown encoding 0x1f", "unknown encoding 0x1f: every key may be contained"},
		{filter(10, 0xff), "unknown encoding 0xff", "unknown encoding 0xff: every key may be contained"},
	} {
		key := []byte("hello")
		e := LevelDB.Of(c.filter)
		require.Equal(t, c.name, e.String())
		require.Equal(t, e, e.Of(c.filter))
		_, unknown := e.(Unknown)
		require.Equal(t, e != BlockedBloom, unknown)
		require.True(t, e.MayContain(c.filter, key))
		require.True(t, policy.MayContain(c.filter, key))
		x := LevelDB.Explain(c.filter, key)
		require.Equal(t, c.note, x.Note)
		require.True(t, x.MayContain)
		require.Empty(t, x.Probes)
		require.Equal(t, unknown, x.HashBits == 0)
		_, ok := LevelDB.Measure(c.filter)
		require.False(t, ok)
		_, ok = BlockedBloom.Measure(c.filter)
		require.False(t, ok)
	}
	require.Equal(t, LevelDBBloom, LevelDB.Of(filter(10, 30)))
	require.Equal(t, LevelDBBloom, LevelDB.Of([]byte{0x42}), "shorter than any filter")
	require.Equal(t, LevelDBBloom, LevelDB.Of(nil))
	require.False(t, LevelDB.MayContain([]byte{0x42}, nil))
}

// Each line counts by itself.
func TestBlockedBloomMeasuresLines(t *testing.T) {
	rng := seeded(t, 3)
	const k, lines = 3, 40
	filter := make([]byte, 64*lines)
	set, distinct, fpp := 0, 0.0, 0.0
	for line := range lines {
		n := 10 * line
		for _, bit := range rng.Perm(512)[:n] {
			filter[64*line+bit/8] |= 1 << (bit % 8)
		}
		set += n
		distinct -= 512.0 / k * math.Log(1-float64(n)/512)
		fpp += math.Pow(float64(n)/512, k) / lines
	}
	filter = append(filter, k, 1, 0x42)
	s, ok := LevelDB.Measure(filter)
	require.True(t, ok)
	require.Equal(t, Stats{K: k, Bits: 512 * lines, LineBits: 512, Set: int64(set), Distinct: s.Distinct, FPP: s.FPP}, s)
	require.InEpsilon(t, distinct, s.Distinct, 1e-9)
	require.InEpsilon(t, fpp, s.FPP, 1e-9)

	copy(filter, bytes.Repeat([]byte{0xff}, 64)) // one full line cannot tell how many keys it has
	s, _ = LevelDB.Measure(filter)
	require.True(t, math.IsInf(s.Distinct, 1))
	require.InEpsilon(t, fpp+1.0/lines, s.FPP, 1e-9)
}

// The estimates against filters of random keys: their mean must lie within the stated error, give or take five standard errors
// of the simulation. ratio bounds how many times the estimated FPP the measured rate is.
func TestBlockedBloomEstimates(t *testing.T) {
	for _, c := range []struct {
		n, filters, asked  int
		bitsPerKey         float64
		ratioFrom, ratioTo float64
	}{
		{20, 4000, 500, 10, 0.95, 1.05},
		{20, 4000, 2000, 20, 0.95, 1.05},
		{500, 400, 5000, 10, 0.95, 1.05},
		{1000, 400, 5000, 10, 0.95, 1.05},
		{1500, 200, 5000, 10, 0.95, 1.05},
		{1500, 200, 20000, 16, 0.95, 1.05},
		{1500, 200, 20000, 20, 0.95, 1.05},
		{100_000, 4, 400_000, 10, 0.95, 1.05},
		{100_000, 4, 400_000, 16, 0.95, 1.05},
		{100_000, 2, 100_000, 3, 0.95, 1.05},
	} {
		if testing.Short() && c.n >= 100_000 {
			continue
		}
		rng := seeded(t, int64(c.n))
		p := blockedPolicy(t, c.bitsPerKey)
		var keys, fpp float64
		passed := 0
		for range c.filters {
			builder := p.NewBuilder()
			for range c.n {
				builder.Add(randomKey(rng))
			}
			filter := builder.Finish(nil)
			s, ok := LevelDB.Measure(filter)
			require.True(t, ok)
			keys += s.Distinct
			fpp += s.FPP
			for range c.asked {
				if LevelDB.MayContain(filter, randomKey(rng)) {
					passed++
				}
			}
		}
		filters, n := float64(c.filters), float64(c.n)
		t.Logf("%d keys at %v bits: %.1f keys estimated; FPP %.6f estimated, %d of %d passed: ratio %.3f",
			c.n, c.bitsPerKey, keys/filters, fpp/filters, passed, c.filters*c.asked, float64(passed)/float64(c.asked)/fpp)
		require.InDelta(t, n, keys/filters, 0.02*n+5*math.Sqrt(n/filters), "%d keys at %v bits", c.n, c.bitsPerKey)
		expected := fpp * float64(c.asked)
		noise := 5 * math.Sqrt(c.ratioTo*expected)
		require.Greater(t, float64(passed), c.ratioFrom*expected-noise, "%d keys at %v bits", c.n, c.bitsPerKey)
		require.Less(t, float64(passed), c.ratioTo*expected+noise, "%d keys at %v bits", c.n, c.bitsPerKey)
	}
}

package analysis

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sampleOf(keys ...string) (sample [][]byte) {
	for _, key := range keys {
		sample = append(sample, []byte(key))
	}
	return sample
}

func TestShapes(t *testing.T) {
	for want, keys := range map[string][]string{
		"":             nil,
		"0 bytes":      {""},
		"5 bytes":      {"hello", "hella"},
		"2 to 3 bytes": {"k1", "k2", "key"},
	} {
		require.Equal(t, want, learn(sampleOf(keys...)).String())
	}
	// Each position has the smallest class that has all bytes seen there.
	s := learn(sampleOf("kf0AZ-\x00", "k01fb1\xff")).of[7]
	require.Equal(t, shape{class("k"), classes[1], classes[0], classes[5], classes[5], classes[6], classes[7]}, s)
}

// shapeOf returns the shape with these classes: d digits, x hex digits, b any bytes, others
// themselves.
func shapeOf(pattern string) (s shape) {
	for _, c := range []byte(pattern) {
		switch c {
		case 'd':
			s = append(s, classes[0])
		case 'x':
			s = append(s, classes[1])
		case 'b':
			s = append(s, classes[len(classes)-1])
		default:
			s = append(s, class{c})
		}
	}
	return s
}

// all returns all keys of the shape, ascending.
func (s shape) all() (keys [][]byte) {
	_, total := s.number(0)
	for i := range total {
		key := make([]byte, len(s))
		s.put(key, i, 0, len(s))
		keys = append(keys, key)
	}
	return keys
}

// randomBytes returns a key of the shape or near it: cut, lengthened, or with a byte of another
// class.
func randomBytes(rng *rand.Rand, s shape) []byte {
	key := make([]byte, len(s))
	s.scatter(rng, key, 0)
	switch rng.IntN(4) {
	case 0:
		key = key[:rng.IntN(len(key)+1)]
	case 1:
		key = append(key, byte(rng.Uint32()))
	case 2:
		key[rng.IntN(len(key))] = byte(rng.Uint32())
	}
	return key
}

// put and rank are each other's inverse, and agree with the bytewise order of all keys.
func TestRank(t *testing.T) {
	rng := seeded(t, 1)
	for _, pattern := range []string{"d", "dd", "xad", "adx:", "bb", "xdd", "k"} {
		s := shapeOf(pattern)
		all := s.all()
		require.True(t, slices.IsSortedFunc(all, bytes.Compare))
		require.Len(t, slices.CompactFunc(slices.Clone(all), bytes.Equal), len(all))
		for range 200 {
			y := randomBytes(rng, s)
			want, own := slices.BinarySearchFunc(all, y, bytes.Compare)
			rank, isOwn := s.rank(y, 0, len(s))
			require.EqualValues(t, want, rank, "%q in %v", y, s)
			require.Equal(t, own, isOwn, "%q in %v", y, s)
		}
	}
}

// An interval's keys are just those of the shape that lie between, and each is drawn.
func TestIntervalsAgainstAllKeys(t *testing.T) {
	rng := seeded(t, 2)
	none, some := 0, 0
	for _, pattern := range []string{"d", "dd", "xad", "adx:", "bd", "b", "k"} {
		s := shapeOf(pattern)
		all := s.all()
		for range 200 {
			n := neighbors{randomBytes(rng, s), randomBytes(rng, s)}
			switch bytes.Compare(n.low, n.high) {
			case 0:
				continue
			case 1:
				n.low, n.high = n.high, n.low
			}
			var want []string
			for _, key := range all {
				if bytes.Compare(n.low, key) < 0 && bytes.Compare(key, n.high) < 0 {
					want = append(want, string(key))
				}
			}
			v := s.between(n)
			require.EqualValues(t, len(want), v.n, "%v between %q and %q", s, n.low, n.high)
			require.Equal(t, math.Log2(float64(len(want))), v.bits())

			var got []string
			require.NoError(t, v.draw(rng, len(want), func(key []byte) error {
				got = append(got, string(key))
				return nil
			}))
			slices.Sort(got)
			require.Equal(t, want, got, "%v between %q and %q", s, n.low, n.high)
			if len(want) == 0 {
				none++
			} else {
				some++
			}
		}
	}
	require.Greater(t, none, 50)
	require.Greater(t, some, 100)
}

// requireUniform is Pearson's chi-square test. The statistic has the mean of the degrees of freedom
// and twice their variance; it is refused beyond six standard deviations, and as far below, where
// counts are too even to be random.
func requireUniform(t *testing.T, counts []int, expected float64) {
	sum := 0.0
	for _, n := range counts {
		sum += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	freedom := float64(len(counts) - 1)
	require.InDelta(t, freedom, sum, 6*math.Sqrt(2*freedom), "%v", counts)
}

// Keys of more than one number's positions: all between, and each part of the interval equally
// likely.
func TestLongIntervals(t *testing.T) {
	rng := seeded(t, 3)
	s := shapeOf("kk" + strings.Repeat("b", 20))
	key := func(head string, tail byte) []byte {
		return []byte("kk" + head + strings.Repeat(string(tail), 20-len(head)))
	}
	for _, n := range []neighbors{
		{key("\x10", 0), key("\x20", 0)},
		{key("ab\x10", 0), key("ab\x20", 0)},
	} {
		v := s.between(n)
		require.Less(t, v.to, len(s))
		from := commonPrefix(n.low, n.high)
		require.InDelta(t, float64(4+8*(len(s)-from-1)), v.bits(), 1e-6)
		counts, next, last := make([]int, 16), make([]int, 256), make([]int, 256)
		const draws = 20000
		drawn := 0
		require.NoError(t, v.draw(rng, draws, func(key []byte) error {
			require.Negative(t, bytes.Compare(n.low, key))
			require.Negative(t, bytes.Compare(key, n.high))
			counts[key[from]-0x10]++
			next[key[from+1]]++
			last[key[len(key)-1]]++
			drawn++
			return nil
		}))
		require.Equal(t, draws, drawn)
		requireUniform(t, counts, draws/16)
		requireUniform(t, next, draws/256.0)
		requireUniform(t, last, draws/256.0)
	}

	// Between numbers that follow each other there is none.
	n := neighbors{
		[]byte("kka\xff\xff\xff\xff\xff\xff" + strings.Repeat("\x80", 13)),
		[]byte("kkb\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x40", 13)),
	}
	v := s.between(n)
	require.Zero(t, v.n)
}

func TestPick(t *testing.T) {
	rng := seeded(t, 4)
	for _, c := range []struct {
		n    int
		size uint64
	}{{0, 5}, {3, 0}, {1, 1}, {5, 5}, {9, 5}, {3, 7}, {7, 1 << 40}} {
		seen := map[uint64]bool{}
		for _, i := range pick(rng, c.n, c.size) {
			require.Less(t, i, c.size)
			require.False(t, seen[i])
			seen[i] = true
		}
		require.Len(t, seen, int(min(uint64(c.n), c.size)))
	}
	// All ordered pairs of six are equally likely.
	counts := make([]int, 36)
	for range 30000 {
		p := pick(rng, 2, 6)
		counts[6*p[0]+p[1]]++
	}
	var pairs []int
	for i, n := range counts {
		if i/6 != i%6 {
			pairs = append(pairs, n)
		}
	}
	requireUniform(t, pairs, 1000)
}

func TestWidened(t *testing.T) {
	for narrow, want := range map[string]shape{
		"a00dd": shapeOf("a0ddd"),
		"addd":  {classes[1], classes[0], classes[0], classes[0]},
		"key":   {class("k"), class("e"), classes[3]},
	} {
		s := shapeOf(narrow)
		wider, ok := s.widened()
		require.True(t, ok)
		require.Equal(t, want, wider)
		require.Equal(t, shapeOf(narrow), s, "the shape itself stays")
	}
	for _, pattern := range []string{"", "d", "dd", "dkk"} {
		_, ok := shapeOf(pattern).widened()
		require.False(t, ok, pattern)
	}
}

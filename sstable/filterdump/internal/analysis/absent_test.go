package analysis

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pairsOf returns all neighbors of keys, which ascend.
func pairsOf(keys [][]byte) (pairs []neighbors) {
	for i := range len(keys) - 1 {
		pairs = append(pairs, neighbors{keys[i], keys[i+1]})
	}
	return pairs
}

func learnAll(keys [][]byte) shapes {
	var sample [][]byte
	sample = append(sample, keys...)
	return learn(sample)
}

// between collects the keys of betweenKeys.
func between(t *testing.T, rng *rand.Rand, keys [][]byte, n int) (absent []string) {
	require.NoError(t, betweenKeys(rng, pairsOf(keys), learnAll(keys), n, func(key []byte) error {
		absent = append(absent, string(key))
		return nil
	}))
	return absent
}

// Where there are few absent keys, each is asked for once.
func TestBetweenAsksForAll(t *testing.T) {
	rng := seeded(t, 1)
	for _, format := range []string{"%06d", "k%05d:x", "%04x", "%06X"} {
		set := numbered(rng, format, 4321, 3000, 0.6)
		var want []string
		for _, key := range set.absent {
			want = append(want, string(key))
		}
		got := between(t, rng, set.present, len(want))
		slices.Sort(got)
		require.Equal(t, want, got)
	}
}

// Numbers without leading zeros have several lengths, and gaps between neighbors of different ones:
// "9" and "91".
func TestBetweenOfSeveralLengths(t *testing.T) {
	rng := seeded(t, 2)
	present := map[string]bool{}
	var keys [][]byte
	for i := range 2000 {
		if rng.IntN(2) == 0 {
			key := strconv.Itoa(i)
			present[key] = true
			keys = append(keys, []byte(key))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	first, last := string(keys[0]), string(keys[len(keys)-1])
	byLength := map[int]int{}
	got := between(t, rng, keys, 100000)
	for _, key := range got {
		require.False(t, present[key], key)
		require.Greater(t, key, first)
		require.Less(t, key, last)
		require.Regexp(t, `^[0-9]+$`, key)
		byLength[len(key)]++
	}
	slices.Sort(got)
	require.Equal(t, len(got), len(slices.Compact(got)), "none comes twice")
	missing := func(from, to int) (n int) {
		for i := from; i < to; i++ {
			if key := strconv.Itoa(i); !present[key] && key > first && key < last {
				n++
			}
		}
		return n
	}
	// Most absent numbers of three digits are there, and all of four, and more: those like "042".
	require.GreaterOrEqual(t, byLength[3], missing(100, 1000)*8/10)
	require.GreaterOrEqual(t, byLength[4], missing(1000, 2000))
}

// A sample of many absent keys has each equally likely.
func TestBetweenIsUniform(t *testing.T) {
	rng := seeded(t, 3)
	set := numbered(rng, "%08d", 5_000_000, 2000, 0.03)
	parts := make([]int, 20)
	first, _ := strconv.Atoi(string(set.present[0]))
	last, _ := strconv.Atoi(string(set.present[len(set.present)-1]))
	index := map[string]int{}
	for i, key := range set.absent {
		index[string(key)] = i
	}
	require.Len(t, set.absent, last-first+1-len(set.present))
	const n = 5000
	got := between(t, rng, set.present, n)
	require.InDelta(t, n, len(got), 1)
	for _, key := range got {
		i, ok := index[key]
		require.True(t, ok, key)
		parts[i*len(parts)/len(index)]++
	}
	for _, count := range parts { // the draws are spread evenly, so they vary less than chance has it
		require.InDelta(t, n/len(parts), count, 5)
	}
	slices.Sort(got)
	require.Equal(t, len(got), len(slices.Compact(got)), "none comes twice")
}

// Portions add up, also where the product passes 2^32.
func TestPortions(t *testing.T) {
	rng := seeded(t, 9)
	for _, n := range []int{0, 1, 7, 1 << 20} {
		counts := []int{0, 1, 3, rng.IntN(1 << 20), 1 << 20, 0}
		total := 0
		for _, count := range counts {
			total += count
		}
		sum, before := 0, 0
		for _, count := range counts {
			p := portion(n, before, count, total)
			require.InDelta(t, float64(n)*float64(count)/float64(total), p, 1)
			sum += p
			before += count
		}
		require.Equal(t, n, sum)
	}
	require.Zero(t, portion(5, 0, 0, 0))
}

// A giant gap counts for no more than 64 median ones.
func TestBetweenCapsGiantGaps(t *testing.T) {
	rng := seeded(t, 4)
	var keys [][]byte
	for i := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "acct:%07d", 7*i))
	}
	for i := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "user:%07d", 7*i))
	}
	giant := 0
	const n = 10000
	got := between(t, rng, keys, n)
	for _, key := range got {
		if key > string(keys[999]) && key < string(keys[1000]) {
			giant++
		}
	}
	require.InDelta(t, n, len(got), 1)
	require.InDelta(t, n*64/(1998+64), giant, 2)
	// Also if all keys are asked for that count.
	require.Equal(t, 6*(1998+64), len(between(t, rng, keys, 1_000_000)))
}

// Each length has its share, however many more keys there are of the longer ones.
func TestBetweenSharesByLength(t *testing.T) {
	rng := seeded(t, 5)
	var keys [][]byte
	for i := range 500 {
		keys = append(keys, fmt.Appendf(nil, "a%06d", 97*i))
	}
	for range 1000 {
		key := make([]byte, 200)
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		key[0] = 'b'
		keys = append(keys, key)
	}
	slices.SortFunc(keys, bytes.Compare)
	short := 0
	got := between(t, rng, keys, 3000)
	for _, key := range got {
		if len(key) < 100 {
			require.Regexp(t, "^a[0-9]{6}$", key)
			short++
		} else {
			require.Len(t, key, 200)
		}
	}
	require.InDelta(t, 3000, len(got), 10)
	require.InDelta(t, 1000, short, 5)
}

func beyond(t *testing.T, rng *rand.Rand, keys [][]byte, n int) (absent []string) {
	require.NoError(t, beyondKeys(rng, keys[0], keys[len(keys)-1], learnAll(keys), n, func(key []byte) error {
		absent = append(absent, string(key))
		return nil
	}))
	return absent
}

// Keys beyond the range lie outside of it, no further than it is wide, and look like the table's.
func TestBeyond(t *testing.T) {
	rng := seeded(t, 6)
	const n = 2000
	for _, c := range []struct {
		format             string
		first, last, step  int
		want               string
		from, to, expected int
	}{
		{"%016d", 3000, 8997, 3, "^0{12}[0-9]{4}$", 0, 9999, n},                  // the range's width is cut off on both sides
		{"key%06d", 550_000, 550_999, 1, "^key55[0-9]{4}$", 551_000, 552_999, n}, // n is more than the range is wide
		{"key%06d", 553_000, 553_999, 1, "^key55[0-9]{4}$", 551_000, 555_999, n}, // and there is more room on both sides
		{"%016d", 0, 99_999, 1, "^0{10}[0-9]{6}$", 100_000, 199_999, n},          // no room among five digits: a sixth varies
		{"%08d:x", 0, 63, 7, "^00000[0-9]{3}:x$|^0000[0-9]{4}:x$", 64, 2063, n},  // no room among two digits: two more vary
		{"%02d", 0, 63, 7, "^[0-9]{2}$", 64, 99, 36},                             // all that there are
	} {
		var keys [][]byte
		for i := c.first; i <= c.last; i += c.step {
			keys = append(keys, fmt.Appendf(nil, c.format, i))
		}
		got := beyond(t, rng, keys, n)
		require.Equal(t, c.expected, len(got), c.format)
		below, above := 0, 0
		for _, key := range got {
			require.Regexp(t, c.want, key)
			var number int
			_, err := fmt.Sscanf(key, c.format, &number)
			require.NoError(t, err)
			require.GreaterOrEqual(t, number, c.from)
			require.LessOrEqual(t, number, c.to)
			if number < c.first {
				below++
			} else {
				require.Greater(t, number, c.last)
				above++
			}
		}
		// Both sides by their size, give or take five standard errors.
		roomBelow, roomAbove := float64(max(0, c.first-c.from)), float64(c.to-c.last)
		require.InDelta(t, float64(c.expected)*roomBelow/(roomBelow+roomAbove), below, 5*math.Sqrt(n)/2)
		require.Positive(t, above)
		slices.Sort(got)
		require.Equal(t, len(got), len(slices.Compact(got)), "none comes twice")
	}
}

// Random keys leave little room beyond them; keys of several lengths, one key and words have some.
func TestBeyondOddKeys(t *testing.T) {
	rng := seeded(t, 7)
	random := make([][]byte, 1000)
	for i := range random {
		random[i] = make([]byte, 16)
		for j := range random[i] {
			random[i][j] = byte(rng.Uint32())
		}
	}
	slices.SortFunc(random, bytes.Compare)
	for _, c := range []struct {
		keys [][]byte
		none bool
	}{
		{random, false},
		{[][]byte{[]byte("hello")}, false},
		{[][]byte{[]byte("apple"), []byte("fig"), []byte("pear"), []byte("plum")}, false},
		{[][]byte{{0}, {1, 2}, {0xff}, {0xff, 0xff, 0xff}}, true},
		{[][]byte{{0xff, 0xff}}, false},
		{[][]byte{{}}, true},
	} {
		keys := c.keys
		got := beyond(t, rng, keys, 100)
		for _, key := range got {
			require.True(t, key < string(keys[0]) || key > string(keys[len(keys)-1]), "%x", key)
			require.True(t, slices.ContainsFunc(keys, func(k []byte) bool { return len(k) == len(key) }))
		}
		require.Equal(t, c.none, len(got) == 0, "%x", keys)
	}
}

func TestRandomKeys(t *testing.T) {
	rng := seeded(t, 8)
	lengths := map[int]int{}
	counts := make([]int, 256)
	require.NoError(t, randomKeys(rng, sampleOf("", "four", "sixteen bytes 16", "sixteen bytes 16"), 8000, func(key []byte) error {
		lengths[len(key)]++
		counts[key[len(key)-1]]++
		return nil
	}))
	require.Len(t, lengths, 2)
	require.InDelta(t, 4000, lengths[8], 250)
	require.InDelta(t, 4000, lengths[16], 250)
	requireUniform(t, counts, 8000/256.0)
}

// Long keys of many lengths take no time beyond reading them: a shape is widened a few times only.
// (A hang is the failure.)
func TestBeyondLongKeys(t *testing.T) {
	keys := [][]byte{[]byte("a"), []byte("b" + strings.Repeat("x", 1<<20)), []byte("c")}
	for i := range 300 {
		keys = append(keys, []byte(fmt.Sprintf("d%03d", i)+strings.Repeat("y", 10*i)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := Analyze(ctx, wholeTable(t, keys, 10), Options{Absent: 1000})
	require.NoError(t, err)
	require.True(t, r.Verified)
}

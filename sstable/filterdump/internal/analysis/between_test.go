package analysis

import (
	"bytes"
	"context"
	"fmt"
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

// between collects the keys of betweenKeys.
func between(t *testing.T, rng *rand.Rand, keys [][]byte, n int) (absent []string) {
	for key := range betweenKeys(rng, pairsOf(keys), learn(keys), n) {
		absent = append(absent, string(key))
	}
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
	for _, count := range parts { // the draws are spread evenly, so they vary less than by chance
		require.InDelta(t, n/len(parts), count, 5)
	}
	slices.Sort(got)
	require.Equal(t, len(got), len(slices.Compact(got)), "none comes twice")
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

func TestRandomKeys(t *testing.T) {
	rng := seeded(t, 8)
	lengths := map[int]int{}
	counts := make([]int, 256)
	sample := sampleOf("", "four", "sixteen bytes 16", "sixteen bytes 16")
	for key := range randomKeys(rng, sample, 8000) {
		lengths[len(key)]++
		counts[key[len(key)-1]]++
	}
	require.Len(t, lengths, 2)
	require.InDelta(t, 4000, lengths[8], 250)
	require.InDelta(t, 4000, lengths[16], 250)
	requireUniform(t, counts, 8000/256.0)
}

// Long keys of many lengths take no time beyond reading them.
// (A hang is the failure.)
func TestLongKeys(t *testing.T) {
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

package census

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairs returns these keys but the last, and those that follow them.
func pairs(keys ...string) (all, next [][]byte) {
	for i := range len(keys) - 1 {
		all, next = append(all, []byte(keys[i])), append(next, []byte(keys[i+1]))
	}
	return all, next
}

func TestAbsentKeys(t *testing.T) {
	for _, c := range []struct{ keys, want []string }{
		{[]string{"1", "2", "5"}, []string{"3", "4"}},
		{[]string{"k198", "k203"}, []string{"k199", "k200", "k201", "k202"}}, // with carry
		{[]string{"k8:bal", "k9:bal"}, nil},
		{[]string{"k09:bal", "k12:bal"}, []string{"k10:bal", "k11:bal"}}, // before a suffix
		{[]string{"195", "205"}, nil},                                    // the 5 is a suffix
		{[]string{"ax", "az"}, []string{"ay"}},                           // bytes
		{[]string{"a\x00\xfe.", "a\x01\x01."}, []string{"a\x00\xff.", "a\x01\x00."}},
		{[]string{"ff", "0101"}, nil}, // not in this order in a database
		{[]string{"/a", "/abc", "/bcde"}, []string{"/a0", "/abc0"}},
		{[]string{"", "a"}, []string{"0"}},
		{[]string{"a", "a0"}, nil}, // "a0" is there
		{[]string{"1"}, nil},
	} {
		keys, next := pairs(c.keys...)
		var got []string
		for _, key := range absentKeys(keys, next, rand.New(rand.NewPCG(1, 1))) {
			got = append(got, string(key))
		}
		require.Equal(t, c.want, got, "%q", c.keys)
	}
}

// Of a giant gap 64 keys are taken, from all over it.
func TestGiantGap(t *testing.T) {
	keys, next := pairs("a000000", "a899999")
	all := absentKeys(keys, next, rand.New(rand.NewPCG(1, 2)))
	require.InDelta(t, maxPerGap, len(all), 2) // two may be the same
	sum := 0.0
	for _, key := range all {
		n, err := strconv.Atoi(string(key[1:]))
		require.NoError(t, err)
		sum += float64(n)
	}
	deviation := 900_000 / math.Sqrt(12*maxPerGap)
	require.InDelta(t, 450_000, sum/float64(len(all)), 5*deviation)
}

// Of more absent keys than are looked up, each is as likely to be taken as each other: a gap gives
// as many as its share.
func TestManyAbsentKeys(t *testing.T) {
	var keys []string
	gapOf, number := map[string]int{}, 0 // by absent key
	for i := range 60_000 {
		gap := []int{1, 2, 3, 4, 7, 64}[i%6]
		keys = append(keys, fmt.Sprintf("%012d", number))
		for n := range gap {
			gapOf[fmt.Sprintf("%012d", number+1+n)] = gap
		}
		number += 1 + gap
	}
	all, next := pairs(keys...)
	got := absentKeys(all, next, rand.New(rand.NewPCG(1, 3)))
	require.InDelta(t, maxLookups, len(got), 5*math.Sqrt(maxLookups)) // some are taken twice
	require.True(t, slices.IsSortedFunc(got, bytes.Compare))
	counts := map[int]int{}
	for _, key := range got {
		counts[gapOf[string(key)]]++
	}
	require.Zero(t, counts[0], "no key is there")
	for gap, n := range counts {
		share := float64(len(got)) * float64(gap) / (1 + 2 + 3 + 4 + 7 + 64)
		require.InDelta(t, share, n, 5*math.Sqrt(share), "gaps of %d", gap)
	}
}

// A part of the keys that has few absent keys between them is looked up like the others: a table of
// numbers beside one of random keys.
func TestEachPartCounts(t *testing.T) {
	var keys []string
	for i := range 60_000 {
		keys = append(keys, fmt.Sprintf("a%09d", i+i/10)) // each tenth gap has a key
	}
	rng := rand.New(rand.NewPCG(1, 4))
	for i := range 60_000 {
		keys = append(keys, fmt.Sprintf("b%09d", 10_000*i+rng.IntN(9000)))
	}
	all, next := pairs(keys...)
	rng.Shuffle(len(all), func(i, j int) { // as in a sample
		all[i], all[j], next[i], next[j] = all[j], all[i], next[j], next[i]
	})
	counts := map[byte]int{}
	for _, key := range absentKeys(all, next, rng) {
		counts[key[0]]++
	}
	require.InDelta(t, 6000, counts['a'], 70, "all but what one part of both gives")
	require.InDelta(t, maxLookups/2, counts['b'], 5*math.Sqrt(maxLookups/2))
}

// A number of more digits than a uint64 has is cut off, and what follows stays.
func TestBetweenFarKeys(t *testing.T) {
	for low, high := range map[string]string{
		strings.Repeat("01", 20):  strings.Repeat("93", 20), // decimal
		strings.Repeat("0a", 16):  strings.Repeat("f3", 16),
		strings.Repeat("\x00", 9): strings.Repeat("\xff", 9),
	} {
		g := between([]byte(low), []byte(high))
		last := low
		for _, i := range []uint64{0, g.len / 2, g.len - 1} {
			key := string(g.key(i))
			require.True(t, last < key && key < high, "%q", key)
			require.Equal(t, low[g.to:], key[g.to:])
			last = key
		}
		end := string(g.key(g.len))
		require.Equal(t, high[:g.to], end[:g.to], "after the last comes the neighbor")
	}
}

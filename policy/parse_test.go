package policy

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func TestParse(t *testing.T) {
	ribbonOf := func(bitsPerKey float64, n int) []byte {
		return testkit.Must(NewRibbon(bitsPerKey)).AppendFilter(nil, testkit.Keys(testkit.Rand(t, 73), n))
	}
	change := func(filter []byte, fromEnd int) []byte {
		filter = slices.Clone(filter)
		filter[len(filter)-fromEnd] ^= 0xff
		return filter
	}
	one, two := ribbonOf(9, 8), ribbonOf(10, 1000)
	// Readers still deny keys of the second shard, so the error must not say that they deny none.
	firstDamaged := change(two, 8+4*3-2)
	const trailer = "damaged trailer, index or length: all keys, or those of the damaged shards, " +
		"may be contained"
	for _, c := range []struct {
		filter []byte
		want   Info
		err    string
	}{
		{[]byte{1, 2, 3}, Info{"bloom", 3}, ""},
		{[]byte{0, 30}, Info{"bloom", 30}, ""},
		{one, Info{Kind: "ribbon"}, ""},
		{ribbonOf(2, 1), Info{Kind: "ribbon"}, ""}, // the smallest: 8 bytes and the trailer
		// About 1000 slots have 1250 bytes but those of the index, which are 12: 9.9 bits each.
		{two, Info{Kind: "ribbon"}, ""},
		{nil, Info{"unknown", 0}, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{6}, Info{"unknown", 0}, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{0xff, 0}, Info{"bloom", 0}, "k is 0: every key may be contained"},
		{[]byte{0, 31}, Info{"unknown", 0}, "unknown encoding 0x1f: every key may be contained"},
		{[]byte{0, 0, 0xff}, Info{"unknown", 0}, "unknown encoding 0xff: every key may be contained"},
		{[]byte{0xff, 0xff}, Info{"unknown", 0}, "replaced by its builder, which could not build it: " +
			"every key may be contained"},
		{change(one, 2), Info{Kind: "ribbon"}, trailer},
		{[]byte{6, 0x73}, Info{Kind: "ribbon"}, trailer},
		{firstDamaged, Info{Kind: "ribbon"}, trailer},
	} {
		info, err := Parse(c.filter)
		require.Equal(t, c.want, info, "%x", c.filter)
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
	}
}

// A policy may have made the filters of its settings, and none of the other kind, of another number
// of probes, or of a size that ribbon filters of so many keys do not have.
func TestMayHaveMade(t *testing.T) {
	keys := testkit.Keys(testkit.Rand(t, 74), 3000)
	settings := []string{"ribbon:2", "ribbon:2.5", "ribbon:3", "ribbon:4", "ribbon:6.9", "ribbon:7",
		"ribbon:8", "ribbon:9.9", "ribbon:10", "ribbon:11", "ribbon:13", "ribbon:16", "ribbon:24.3",
		"ribbon:40", "bloom:1", "bloom:10", "bloom:10,tuned", "bloom:12", "bloom:16", "bloom:100"}
	for i, setting := range settings {
		p := testkit.Must(FromString(setting))
		for _, n := range []int{1, 2, 7, 8, 9, 16, 30, 50, 100, 699, 700, 701, 1249, 1250, 3000} {
			filter := p.AppendFilter(nil, keys[:n])
			for j, other := range settings {
				o := testkit.Must(FromString(other, WithName("other")))
				size := float64(o.FilterSize(n)) / float64(len(filter))
				if strings.TrimSuffix(setting, ",tuned") == strings.TrimSuffix(other, ",tuned") {
					require.True(t, o.MayHaveMade(filter), "%s by %s, %d keys", setting, other, n)
				} else if kind := setting[:5]; i != j && (kind != other[:5] || kind == "bloom" ||
					n <= 700 && size != 1 || n == 3000 && math.Abs(size-1) > 0.1) {
					require.False(t, o.MayHaveMade(filter), "%s by %s, %d keys", setting, other, n)
				}
			}
			require.False(t, p.MayHaveMade(append(filter, 0)), setting)
		}
		require.False(t, p.MayHaveMade(nil))
		require.False(t, p.MayHaveMade([]byte{255, 255}))
	}
	for bits := 20; bits <= 400; bits++ {
		p := testkit.Must(NewRibbon(float64(bits)/10, WithCounters()))
		for n := range 100 {
			require.True(t, p.MayHaveMade(p.AppendFilter(nil, keys[:n+1])), "%v, %d keys", p, n+1)
		}
		counted := p.Counters()
		require.EqualValues(t, 100, counted.Filters)
	}
}

package policy

import (
	"slices"
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
		{[]byte{1, 2, 3}, Info{EncodingBloom, 3}, ""},
		{[]byte{0, 30}, Info{EncodingBloom, 30}, ""},
		{one, Info{EncodingRibbon, 9}, ""},
		{ribbonOf(2, 1), Info{EncodingRibbon, 8}, ""}, // the smallest: 8 bytes and the trailer
		// About 1000 slots have 1250 bytes but those of the index, which are 12: 9.9 bits each.
		{two, Info{EncodingRibbon, 9}, ""},
		{nil, Info{"unknown", 0}, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{6}, Info{"unknown", 0}, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{0xff, 0}, Info{EncodingBloom, 0}, "k is 0: every key may be contained"},
		{[]byte{0, 31}, Info{"unknown", 0}, "unknown encoding 0x1f: every key may be contained"},
		{[]byte{0, 0, 0xff}, Info{"unknown", 0}, "unknown encoding 0xff: every key may be contained"},
		{[]byte{0xff, 0xff}, Info{"unknown", 0}, "replaced by its builder, which could not build it: " +
			"every key may be contained"},
		{change(one, 2), Info{EncodingRibbon, 0}, trailer},
		{[]byte{6, 0x73}, Info{EncodingRibbon, 0}, trailer},
		{firstDamaged, Info{EncodingRibbon, 0}, trailer},
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

package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func TestParse(t *testing.T) {
	twoShards := testkit.Must(NewRibbon(10)).
		AppendFilter(nil, testkit.Keys(testkit.Rand(t, 73), 1000))
	for _, c := range []struct {
		filter []byte
		want   Info
	}{
		{[]byte{1, 2, 3}, Info{EncodingBloom, 3}},
		{[]byte{0, 30}, Info{EncodingBloom, 30}},
		{ribbonTrailer(make([]byte, 9), 8, 5), Info{EncodingRibbon, 9}},
		{ribbonTrailer(make([]byte, 8), 20, 63), Info{EncodingRibbon, 3}},
		// About 1000 slots have 1250 bytes but those of the index, which are 12: 9.9 bits each.
		{twoShards, Info{EncodingRibbon, 9}},
	} {
		info, err := Parse(c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want, info)
	}
}

// The error says how readers answer, and they do.
func TestParseRefuses(t *testing.T) {
	damaged := ribbonTrailer(make([]byte, 8), 20, 0)
	damaged[10] ^= 1
	const trailer = "damaged trailer, index or length: all keys, or those of the damaged shards, "
	for _, c := range []struct {
		filter        []byte
		encoding, err string
	}{
		{nil, "unknown", "shorter than 2 bytes: the filter contains no key"},
		{[]byte{6}, "unknown", "shorter than 2 bytes: the filter contains no key"},
		{[]byte{0xff, 0}, EncodingBloom, "k is 0: every key may be contained"},
		{[]byte{0, 31}, "unknown", "unknown encoding 0x1f: every key may be contained"},
		{[]byte{0, 0, 0xff}, "unknown", "unknown encoding 0xff: every key may be contained"},
		{[]byte{0xff, 0xff}, "unknown", "replaced by its builder, which could not build it: " +
			"every key may be contained"},
		{damaged, EncodingRibbon, trailer + "may be contained"},
		{[]byte{6, 0x73}, EncodingRibbon, trailer + "may be contained"},
		{ribbonTrailer(make([]byte, 8), 7, 0), EncodingRibbon, trailer + "may be contained"},
	} {
		info, err := Parse(c.filter)
		require.EqualError(t, err, c.err, "%x", c.filter)
		require.Equal(t, Info{Encoding: c.encoding}, info)
		require.Equal(t, len(c.filter) >= 2, MayContain(c.filter, []byte("key")))
	}
}

// A filter with one damaged entry of its index is refused. Readers answer "may contain" for keys of
// that shard, and as before for the others: the error must not say that they deny no key.
func TestParseDamagedShard(t *testing.T) {
	p := testkit.Must(NewRibbon(10))
	keys := testkit.Keys(testkit.Rand(t, 72), 5000)
	filter := p.AppendFilter(nil, keys)
	const shards = 10
	index := len(filter) - 8 - 4*(shards+1)
	for i := range 4 {
		filter[index+4*4+i] = 0xff // where shard 4 begins, and shard 3 ends
	}
	_, err := Parse(filter)
	require.ErrorContains(t, err, "or those of the damaged shards")
	require.NotContains(t, requireSameAnswers(t, "damaged", filter, keys[:50]), false)
	require.Contains(t, requireSameAnswers(t, "damaged", filter, longKeys(50)), false)
	require.NotContains(t, err.Error(), "every key may be contained")
}

// longKeys returns n different keys that testkit.Keys never returns.
func longKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "absent key %d, which is longer than 40 bytes", i)
	}
	return keys
}

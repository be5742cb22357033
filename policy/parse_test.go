package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

func TestParse(t *testing.T) {
	twoShards := policytest.Must(NewRibbon(10)).
		AppendFilter(nil, policytest.Keys(policytest.Rand(t, 73), 1000))
	for _, c := range []struct {
		filter []byte
		want   Info
	}{
		{[]byte{1, 2, 3}, Info{EncodingBloom, 3, []byte{1, 2}, nil}},
		{[]byte{0, 30}, Info{EncodingBloom, 30, []byte{0}, nil}},
		// 8 slots of 9 columns, and 20 slots of 3.
		{ribbonTrailer([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, 8, 5),
			Info{EncodingRibbon, 9, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, nil}},
		{ribbonTrailer(make([]byte, 8), 20, 63),
			Info{EncodingRibbon, 3, make([]byte, 8), nil}},
		// About 1000 slots have 1250 bytes but those of the index, which are 12: 9.9 bits each.
		{twoShards, Info{EncodingRibbon, 9, twoShards[:1250], nil}},
	} {
		info, err := Parse(c.filter)
		require.NoError(t, err)
		require.Equal(t, c.filter, info.filter)
		info.filter = nil
		require.Equal(t, c.want, info)
	}
}

func TestParseRefuses(t *testing.T) {
	damaged := ribbonTrailer(make([]byte, 8), 20, 0)
	damaged[10] ^= 1
	for _, c := range []struct {
		filter   []byte
		encoding string
		err      error
	}{
		{nil, EncodingUnknown, errShort},
		{[]byte{6}, EncodingUnknown, errShort},
		{[]byte{0xff, 0}, EncodingBloom, errZeroK},
		{[]byte{0, 31}, EncodingUnknown, ErrUnknownEncoding},
		{[]byte{0, 0, 0xff}, EncodingUnknown, ErrUnknownEncoding},
		{[]byte{0xff, 0xff}, EncodingUnknown, ErrReplaced},
		{damaged, EncodingRibbon, errDamaged},
		{[]byte{6, 0x73}, EncodingRibbon, errDamaged},
		{ribbonTrailer(make([]byte, 8), 7, 0), EncodingRibbon, errDamaged},
	} {
		info, err := Parse(c.filter)
		require.ErrorIs(t, err, c.err, "%x", c.filter)
		for _, other := range []error{
			errShort, errZeroK, errDamaged, ErrReplaced, ErrUnknownEncoding,
		} {
			require.Equal(t, other == c.err, errors.Is(err, other), "%x", c.filter)
		}
		require.Equal(t, len(c.filter) >= 2, strings.Contains(err.Error(), "may be contained"))
		require.Equal(t, Info{Encoding: c.encoding}, info)
		require.Empty(t, info.Probes(nil, []byte("key")))
		keys, fpp := info.Estimate()
		require.Zero(t, keys)
		require.Equal(t, 1.0, fpp)
		require.Equal(t, len(c.filter) >= 2, MayContain(c.filter, []byte("key")))
	}
}

// A filter with one damaged entry of its index is refused. Readers answer "may contain" for the keys
// of that shard, and as before for the others: the error must not say that they deny no key.
func TestParseDamagedShard(t *testing.T) {
	p := policytest.Must(NewRibbon(10))
	keys := policytest.Keys(policytest.Rand(t, 72), 5000)
	filter := p.AppendFilter(nil, keys)
	const shards = 10
	index := len(filter) - 8 - 4*(shards+1)
	for i := range 4 {
		filter[index+4*4+i] = 0xff // where shard 4 begins, and shard 3 ends
	}
	_, err := Parse(filter)
	require.ErrorIs(t, err, errDamaged)
	require.NotContains(t, requireSameAnswers(t, "damaged", filter, keys[:50]), false)
	require.Contains(t, requireSameAnswers(t, "damaged", filter, policytest.AbsentKeys(50)), false)
	require.NotContains(t, err.Error(), "every key may be contained")
}

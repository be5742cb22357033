package policy

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

func TestParse(t *testing.T) {
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
	} {
		info, err := Parse(c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want.Encoding == EncodingRibbon, info.ribbon != nil)
		info.ribbon = nil
		require.Equal(t, c.want, info)
	}
}

func TestParseRefuses(t *testing.T) {
	damaged := ribbonTrailer(make([]byte, 8), 20, 0)
	damaged[10] ^= 1
	for _, c := range []struct {
		filter   []byte
		encoding Encoding
		err      string
	}{
		{nil, EncodingUnknown, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{6}, EncodingUnknown, "shorter than 2 bytes: the filter contains no key"},
		{[]byte{0xff, 0}, EncodingBloom, "k is 0: every key may be contained"},
		{[]byte{0, 31}, EncodingUnknown, "unknown encoding 0x1f: every key may be contained"},
		{[]byte{0, 0, 0xff}, EncodingUnknown, "unknown encoding 0xff: every key may be contained"},
		{[]byte{0xff, 0xff}, EncodingUnknown,
			ErrReplaced.Error()},
		{[]byte{0, 0, 0x62}, EncodingUnknown, "unknown encoding 0x62: every key may be contained"},
		{damaged, EncodingRibbon, ErrDamaged.Error()},
		{[]byte{6, 0x72}, EncodingRibbon, ErrDamaged.Error()},
		{ribbonTrailer(make([]byte, 8), 7, 0), EncodingRibbon, ErrDamaged.Error()},
	} {
		info, err := Parse(c.filter)
		require.EqualError(t, err, c.err, "%x", c.filter)
		require.Equal(t, Info{Encoding: c.encoding}, info)
		require.Empty(t, info.Probes(nil, []byte("key")))
		require.Zero(t, info.Ones())
		keys, fpp := info.Estimate()
		require.Zero(t, keys)
		require.Equal(t, 1.0, fpp)
		require.Equal(t, len(c.filter) >= 2, MayContain(c.filter, []byte("key")))
	}
}

func TestEncodingNames(t *testing.T) {
	require.Equal(t, "LevelDB Bloom", EncodingBloom.String())
	require.Equal(t, "ribbon", EncodingRibbon.String())
	require.Equal(t, "unknown", EncodingUnknown.String())
	require.Equal(t, "unknown", Encoding(0xff).String())
}

// The bits that Probes names are the ones that a lookup tests: whatever the bytes, a sound filter
// may contain a key if all of them are set, and only then. The plain readers of the tests, which
// follow FORMAT.md, agree.
func FuzzProbes(f *testing.F) {
	f.Add([]byte{0xff, 0x7f, 0xff, 6}, []byte("key"), uint16(3))
	f.Add([]byte{0xff, 0xfe, 30}, []byte{}, uint16(0))
	f.Add([]byte{0xf7, 0xff, 0, 1}, []byte("key"), uint16(3))
	f.Fuzz(func(t *testing.T, filter, key []byte, more uint16) {
		// Almost no random bytes have the check of their trailer right.
		trailed := ribbonTrailer(bytes.Clone(filter), int(more), int(more>>10))
		for _, filter := range [][]byte{filter, trailed} {
			info, err := Parse(filter)
			want := referenceMayContain(filter, key)
			require.Equal(t, want, MayContain(filter, key))
			if err != nil {
				require.Equal(t, len(filter) >= 2, want)
				continue
			}
			probes := info.Probes([]uint64{1 << 60}, key)
			if info.Encoding == EncodingRibbon {
				require.Equal(t, []uint64{1 << 60}, probes)
				continue
			}
			require.Len(t, probes, 1+info.K)
			require.Equal(t, uint64(1<<60), probes[0], "appended")
			all := true
			for _, p := range probes[1:] {
				all = all && info.Payload[p/8]>>(p%8)&1 != 0
			}
			require.Equal(t, want, all)
		}
	})
}

// A filter of one key has the bits set that Probes names, and no others.
func TestProbesOfOneKey(t *testing.T) {
	rng := policytest.Rand(t, 70)
	for _, bitsPerKey := range []float64{1, 3, 10, 100, 1000} {
		p := policytest.Must(NewBloom(bitsPerKey))
		for _, key := range append(policytest.Keys(rng, 50), nil) {
			info := mustParse(t, p.AppendFilter(nil, [][]byte{key}))
			payload := make([]byte, len(info.Payload))
			for _, bit := range info.Probes(nil, key) {
				payload[bit/8] |= 1 << (bit % 8)
			}
			require.Equal(t, info.Payload, payload)
		}
	}
}

// Ones counts as big.Int does, whatever the length modulo 8.
func TestOnes(t *testing.T) {
	rng := policytest.Rand(t, 71)
	for n := 1; n < 40; n++ {
		array := make([]byte, n)
		rng.Read(array)
		want := 0
		for n, i := new(big.Int).SetBytes(array), 0; i < n.BitLen(); i++ {
			want += int(n.Bit(i))
		}
		info, err := Parse(append(array, 6))
		require.NoError(t, err)
		require.Equal(t, want, info.Ones())
	}
}

package policy

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// cut returns data as keys of n bytes, and what is left as one more.
func cut(data []byte, n int) (keys [][]byte) {
	for ; len(data) > n && len(keys) < 100; data = data[n:] {
		keys = append(keys, data[:n])
	}
	return append(keys, data)
}

// Any bytes as filter, and any number of keys: all readers answer as the plain reader that follows
// FORMAT.md.
func FuzzMayContain(f *testing.F) {
	f.Add([]byte{0xff, 0x7f, 0xff, 6}, uint8(3), bytes.Repeat([]byte("one two three"), 20))
	f.Add([]byte{0xff, 0xfe, 30}, uint8(0), []byte{})
	for _, p := range readers {
		filter := p.AppendFilter(nil, testkit.Keys(testkit.Rand(f, 1), 50))
		f.Add(filter, uint8(16), bytes.Repeat([]byte{0x80, 1, 0xff}, 300))
	}
	f.Fuzz(func(t *testing.T, filter []byte, keyLen uint8, data []byte) {
		if len(filter) > 2000 {
			return // the plain reader is slow
		}
		for _, key := range cut(data, 1+int(keyLen)%64) {
			ask(t, filter, key)
		}
	})
}

// Any keys at any setting, after any bytes: each kind of policy builds the filter of FORMAT.md.
func FuzzBuilders(f *testing.F) {
	f.Add(10.0, uint8(3), []byte("one two three"), []byte("before"))
	f.Add(1.01, uint8(1), bytes.Repeat([]byte{0x80, 0xff}, 300), []byte{})
	f.Add(30.5, uint8(15), bytes.Repeat([]byte("0123456789abcdef"), 100), []byte{6})
	f.Fuzz(func(t *testing.T, bitsPerKey float64, keyLen uint8, data, before []byte) {
		bitsPerKey = math.Mod(math.Abs(bitsPerKey), 200)
		keys := cut(data, 1+int(keyLen)%64)
		for _, kind := range allKinds {
			p, err := of(kind, bitsPerKey)
			if err != nil {
				continue
			}
			b := p.NewBuilder()
			for _, keys := range [][][]byte{keys, nil, keys} {
				requireBuilds(t, kind, p, b, keys, before)
			}
		}
	})
}

// requireBuilds requires that p's builder b and AppendFilter build the filter of FORMAT.md, which
// loses no key, from keys whose memory is used again, after any bytes and into any.
func requireBuilds(t *testing.T, kind string, p *Policy, b Builder, keys [][]byte, before []byte) {
	what := fmt.Sprintf("%v, %d keys", p, len(keys))
	want := references[kind](p.setting.BitsPerKey, keys)
	require.EqualValues(t, len(want), p.FilterSize(len(keys)), what)
	var memory []byte
	for i, key := range keys {
		require.Equal(t, i, b.Len())
		memory = append(memory[:0], key...)
		b.Add(memory)
	}
	dirty := append(bytes.Clone(before), bytes.Repeat([]byte{0xff}, 2*len(want))...)
	extended := append(bytes.Clone(before), want...)
	require.True(t, bytes.Equal(extended, b.Finish(dirty[:len(before)])), what)
	require.Zero(t, b.Len())
	require.True(t, bytes.Equal(extended, p.AppendFilter(bytes.Clone(before), keys)), what)
	for _, key := range keys {
		require.True(t, ask(t, want, key), what)
	}
}

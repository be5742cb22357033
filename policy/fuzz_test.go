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
	for _, p := range readers() {
		filter := p.AppendFilter(nil, testkit.Keys(testkit.Rand(f, 1), 50))
		f.Add(filter, uint8(16), bytes.Repeat([]byte{0x80, 1, 0xff}, 300))
	}
	f.Fuzz(func(t *testing.T, filter []byte, keyLen uint8, data []byte) {
		keys := cut(data, 1+int(keyLen)%64)
		if len(filter) > 2000 {
			return // the plain reader is slow
		}
		requireAnswers(t, filter, keys)
		// Almost no random bytes have the check of their trailer right.
		requireAnswers(t, ribbonTrailer(bytes.Clone(filter), len(data), int(keyLen)), keys)
	})
}

// Any keys at any setting, handed in at once or one by one from memory that is used again, after
// any bytes and into any, verified or not: each kind of policy builds the filter of FORMAT.md,
// which loses no key.
func FuzzBuilders(f *testing.F) {
	f.Add(10.0, uint8(3), []byte("one two three"), []byte("before"))
	f.Add(1.01, uint8(1), bytes.Repeat([]byte{0x80, 0xff}, 300), []byte{})
	f.Add(30.5, uint8(15), bytes.Repeat([]byte("0123456789abcdef"), 100), []byte{6})
	f.Fuzz(func(t *testing.T, bitsPerKey float64, keyLen uint8, data, before []byte) {
		bitsPerKey = math.Mod(math.Abs(bitsPerKey), 200)
		keys := cut(data, 1+int(keyLen)%64)
		for _, kind := range allKinds {
			requireBuilders(t, bitsPerKey, keys, before, kind)
		}
	})
}

func requireBuilders(
	t *testing.T, bitsPerKey float64, keys [][]byte, before []byte, kind string,
) {
	var want []byte
	for _, options := range [][]Option{nil, {WithCounters()}} {
		p, err := of(kind, bitsPerKey, options...)
		if err != nil {
			return
		}
		if want == nil {
			want = references[kind](bitsPerKey, keys)
			require.EqualValues(t, len(want), p.FilterSize(len(keys)))
		}
		what := fmt.Sprintf("%s, %d options", kind, len(options))
		dirty := append(bytes.Clone(before), bytes.Repeat([]byte{0xff}, 2*len(want))...)
		built := p.AppendFilter(dirty[:len(before)], keys)
		require.Equal(t, before, built[:len(before)])
		require.Equal(t, want, built[len(before):], "at once: %s", what)

		b := p.NewBuilder()
		var memory []byte
		for range 2 { // a builder starts over
			for _, key := range keys {
				memory = append(memory[:0], key...)
				b.Add(memory)
			}
			require.Equal(t, len(keys), b.Len())
			require.Equal(t, want, b.Finish(nil), "one by one: %s", what)
			none := references[kind](bitsPerKey, nil)
			require.Equal(t, none, b.Finish(nil), "without keys: %s", what)
		}
	}
	require.NotContains(t, requireSameAnswers(t, "built", want, keys), false, kind)
}

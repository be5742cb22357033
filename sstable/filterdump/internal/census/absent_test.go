package census

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// keysOf returns all keys of a gap above low.
func keysOf(g gap, low string) (keys []string) {
	for i := range g.len {
		key := []byte(low)
		g.put(key, i)
		keys = append(keys, string(key))
	}
	return keys
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		low, high string
		want      []string
	}{
		{"k3", "k5", []string{"k4"}},
		{"k198", "k203", []string{"k199", "k200", "k201", "k202"}}, // with carry
		{"k8:bal", "k9:bal", nil},
		{"k09:bal", "k12:bal", []string{"k10:bal", "k11:bal"}},         // before a suffix
		{"195", "205", nil},                                            // the 5 is a suffix
		{"k8", "ka", []string{"k9"}},                                   // hexadecimal
		{"k8", "kB", []string{"k9", "kA"}},                             // and in capitals
		{"ax", "az", []string{"ay"}},                                   // bytes
		{"1-fe", "2-01", []string{"1-ff", "2-00"}},                     // with a dash between digits
		{"\x00\xfe.", "\x01\x01.", []string{"\x00\xff.", "\x01\x00."}}, // little-endian, or a suffix
		{"1", "12", nil}, {"", "", nil}, {"a", "a", nil}, {"5", "3", nil},
	} {
		require.Equal(t, c.want, keysOf(between([]byte(c.low), []byte(c.high)), c.low), "%q %q",
			c.low, c.high)
	}
}

// A number of more digits than a uint64 has is cut off, and what follows stays.
func TestBetweenFarKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	number := map[string]func() []byte{
		"decimal": func() []byte { return fmt.Appendf(nil, "%020d%020d", rng.Uint64(), rng.Uint64()) },
		"hex":     func() []byte { return fmt.Appendf(nil, "%016x%016x", rng.Uint64(), rng.Uint64()) },
		"HEX":     func() []byte { return fmt.Appendf(nil, "%016X%016X", rng.Uint64(), rng.Uint64()) },
		"bytes": func() []byte {
			return fmt.Appendf(binary.BigEndian.AppendUint64(nil, rng.Uint64()), "%x", rng.Uint32())
		},
	}
	for _, name := range []string{"decimal", "hex", "HEX", "bytes"} {
		for range 100 {
			low, high := number[name](), number[name]()
			if len(low) != len(high) {
				continue
			}
			if bytes.Compare(low, high) > 0 {
				low, high = high, low
			}
			g := between(low, high)
			last := low
			for i := range uint64(5) {
				key := bytes.Clone(low)
				g.put(key, i*(g.len/5)+rng.Uint64N(g.len/5))
				require.Negative(t, bytes.Compare(last, key), "%q", key)
				require.Negative(t, bytes.Compare(key, high), "%q", key)
				require.Equal(t, low[g.to:], key[g.to:])
				last = key
			}
		}
	}
	low, high := make([]byte, 8), bytes.Repeat([]byte{0xff}, 8)
	g := between(low, high)
	require.EqualValues(t, uint64(math.MaxUint64-1), g.len)
	g.put(low, g.len-1)
	require.Equal(t, append(bytes.Repeat([]byte{0xff}, 7), 0xfe), low)
}

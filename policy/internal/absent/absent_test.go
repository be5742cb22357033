package absent

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keysOf returns all keys of a gap above low.
func keysOf(g Gap, low string) (keys []string) {
	for i := range g.Len {
		key := []byte(low)
		g.Put(key, i)
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
		require.Equal(t, c.want, keysOf(Between([]byte(c.low), []byte(c.high), 99), c.low), "%q %q",
			c.low, c.high)
	}
}

// A number of more digits than a uint64 has is cut off, and what follows stays.
func TestBetweenFarKeys(t *testing.T) {
	for low, high := range map[string]string{
		strings.Repeat("01", 20):  strings.Repeat("93", 20), // decimal
		strings.Repeat("0a", 16):  strings.Repeat("f3", 16),
		strings.Repeat("0A", 16):  strings.Repeat("F3", 16),
		strings.Repeat("\x00", 9): strings.Repeat("\xff", 9),
	} {
		g := Between([]byte(low), []byte(high), 99)
		last := low
		for _, i := range []uint64{0, g.Len / 2, g.Len - 1} {
			key := []byte(low)
			g.Put(key, i)
			require.True(t, last < string(key) && string(key) < high, "%q", key)
			require.Equal(t, low[g.To:], string(key[g.To:]))
			last = string(key)
		}
		end := []byte(low)
		g.Put(end, g.Len)
		require.Equal(t, high[:g.To], string(end[:g.To]), "after the last comes the neighbor")
	}
}

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		low, high, key string
		end            int
		first          string
		n              uint64
	}{
		{"k3", "k5", "k97", 3, "k98", 2},
		{"k3:bal", "k5:bal", "k99:bal", 3, "", 0},
		{"k3:bal", "k5:bal", "k08:bal", 3, "k09:bal", 91},
		{"a8", "af", "zzf0", 4, "zzf1", 15},
		{"\x01", "\x03", "\x00\x00\x00\x00\x00\x00\x00\x00\x05", 9,
			"\x00\x00\x00\x00\x00\x00\x00\x00\x06", math.MaxUint64 - 5},
		{"1", "3", "x", 1, "", 0}, // no number there
	} {
		g := Between([]byte(c.low), []byte(c.high), 99)
		after := g.After([]byte(c.key), c.end)
		require.Equal(t, c.n, after.Len, "%q", c.key)
		if c.n > 0 {
			key := []byte(c.key)
			after.Put(key, 0)
			require.Equal(t, c.first, string(key))
		}
	}
	g := Between([]byte("1"), []byte("3"), 1)
	require.Equal(t, 10, g.Radix())
	g = Between([]byte("3"), []byte("1"), 1)
	require.Zero(t, g.Radix())
	g = Between([]byte("108"), []byte("211"), 2)
	require.Zero(t, g.Radix(), "they differ in three bytes")
}

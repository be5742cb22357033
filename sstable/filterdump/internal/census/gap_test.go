package census

import (
	"strings"
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
		{"1-fe", "2-01", []string{"1-ff", "2-00"}},                     // a dash between digits
		{"\x00\xfe.", "\x01\x01.", []string{"\x00\xff.", "\x01\x00."}}, // little-endian, a suffix
		{"1", "12", nil}, {"", "", nil}, {"a", "a", nil}, {"5", "3", nil},
	} {
		require.Equal(t, c.want, keysOf(between([]byte(c.low), []byte(c.high)), c.low), "%q %q",
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
		g := between([]byte(low), []byte(high))
		last := low
		for _, i := range []uint64{0, g.len / 2, g.len - 1} {
			key := []byte(low)
			g.put(key, i)
			require.True(t, last < string(key) && string(key) < high, "%q", key)
			require.Equal(t, low[g.to:], string(key[g.to:]))
			last = string(key)
		}
		end := []byte(low)
		g.put(end, g.len)
		require.Equal(t, high[:g.to], string(end[:g.to]), "after the last comes the neighbor")
	}
}

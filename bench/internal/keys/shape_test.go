package keys

import (
	"math/bits"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func shapeNamed(t *testing.T, name string) Shape {
	for _, s := range Shapes {
		if s.Name == name {
			return s
		}
	}
	require.FailNow(t, "no shape "+name)
	return Shape{}
}

func densityNamed(t *testing.T, name string) Density {
	for _, d := range append(Densities, Anywhere) {
		if d.Name == name {
			return d
		}
	}
	require.FailNow(t, "no density "+name)
	return Density{}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		shape string
		index uint64
		key   string
	}{
		{"decimal", 1234, "0000000000001234"},
		{"decimal", 0, "0000000000000000"},
		{"decimal", 999_999_999_999, "0000999999999999"},
		{"user", 1234, "user0000000000001234"},
		{"key", 1234, "key000001234"},
		{"key", 999_999_999, "key999999999"},
		{"bigendian", 0x010203, "\x00\x00\x00\x00\x00\x01\x02\x03"},
		{"littleendian", 0x010203, "\x03\x02\x01\x00\x00\x00\x00\x00"},
		{"url", 1_234_567, "https://host1234.example.com/articles/1234567/comments"},
		{"composite", 7_012_345, "table7/tenant12/row345"},
		{"length", 3, "\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"length-a", 3, "\x07\x00\x00\x00\x00\x00\x00\x00aaa"},
		{"padded16", 1234, "1234" + strings.Repeat("\x00", 12)},
		{"padded40", 0, "0" + strings.Repeat("\x00", 39)},
		{"padded250", 1234, "1234" + strings.Repeat("\x00", 246)},
		{"prefix", 1234, strings.Repeat("p", 200) + "000000001234"},
	} {
		require.Equal(t, c.key, string(shapeNamed(t, c.shape).Append(nil, 7, c.index)), c.shape)
		require.Equal(
			t,
			"x"+c.key,
			string(shapeNamed(t, c.shape).Append([]byte("x"), 7, c.index)),
			c.shape,
		)
	}
	require.Len(t, shapeNamed(t, "random").Append(nil, 7, 1234), 16)
	require.Regexp(
		t,
		regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
		string(shapeNamed(t, "uuid").Append(nil, 7, 1234)),
	)
}

// Different indexes give different keys, at both ends of what a shape has. Another seed gives
// others if and only if the shape says so.
func TestKeysDiffer(t *testing.T) {
	for _, s := range Shapes {
		seen := map[string]uint64{}
		add := func(index uint64) {
			key := string(s.Append(nil, 7, index))
			before, ok := seen[key]
			if ok {
				require.Fail(t, "one key twice", "%s: %d and %d", s.Name, before, index)
			}
			seen[key] = index
		}
		n := min(uint64(20_000), s.Indexes/2)
		for i := range n {
			add(i)
			add(s.Indexes - 1 - i)
		}
		for i := n; i+1000 < s.Indexes-n && len(seen) < 50_000; i += max(1, s.Indexes/1009) {
			add(i)
		}
		require.Equal(
			t,
			s.Seeded,
			string(s.Append(nil, 7, 5)) != string(s.Append(nil, 8, 5)),
			s.Name,
		)
	}
}

func TestBits(t *testing.T) {
	s := shapeNamed(t, "bits")
	base := s.Append(nil, 7, 0)
	require.Len(t, base, 64)
	differing := func(index uint64) (n int) {
		for i, b := range s.Append(nil, 7, index) {
			n += bits.OnesCount8(b ^ base[i])
		}
		return n
	}
	for _, c := range []struct {
		index uint64
		bits  int
	}{{0, 0}, {1, 1}, {127, 1}, {128, 1}, {129, 2}, {128*128 - 1, 2}, {128*128*128 - 1, 3}, {1<<28 - 1, 4}} {
		require.Equal(t, c.bits, differing(c.index), c.index)
	}
	for i := uint64(1); i < 128; i++ {
		require.Equal(t, 1, differing(i))
		require.Equal(t, base[:48], s.Append(nil, 7, i)[:48], "the last part differs first")
	}
}

package keys

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func shapeNamed(t *testing.T, name string) Shape {
	i := slices.IndexFunc(Shapes, func(s Shape) bool { return s.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return Shapes[i]
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
		{"decimal15", 1234, "000000000001234"},
		{"key", 1234, "key0000000001234"},
		{"key", 999_999_999_999, "key0999999999999"},
		{"bigendian", 0x010203, "\x00\x00\x00\x00\x00\x01\x02\x03"},
		{"littleendian", 0x010203, "\x03\x02\x01\x00\x00\x00\x00\x00"},
		{"url", 1_234_567, "https://host1234.example.com/articles/1234567/comments"},
		{"composite", 7_012_345, "table7/tenant12/row345"},
	} {
		require.Equal(t, c.key, string(shapeNamed(t, c.shape).Append(nil, 7, c.index)), c.shape)
		require.Equal(t, "x"+c.key, string(shapeNamed(t, c.shape).Append([]byte("x"), 7, c.index)),
			c.shape)
	}
	require.Len(t, shapeNamed(t, "random").Append(nil, 7, 1234), 16)
	require.Regexp(t,
		regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
		string(shapeNamed(t, "uuid").Append(nil, 7, 1234)))
}

// Different indexes give different keys, at both ends of what a shape has. Another seed gives
// others if and only if the shape is unordered.
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
		n := uint64(20_000)
		for i := range n {
			add(i)
			add(uint64(indexes) - 1 - i)
		}
		const step = uint64(indexes) / 1009
		for i := n; i+1000 < uint64(indexes)-n && len(seen) < 50_000; i += step {
			add(i)
		}
		keys := s.Keys([]uint64{0, 999, 5}, 7)
		require.Equal(t, s.Append(nil, 7, 999), keys[1])
		require.Equal(t, len(keys[0]), cap(keys[0]))
		require.Equal(t, s.unordered, string(s.Append(nil, 7, 5)) != string(s.Append(nil, 8, 5)),
			s.Name)
	}
}

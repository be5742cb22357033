package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func named[T any](t *testing.T, name string, all []T, nameOf func(T) string) T {
	i := slices.IndexFunc(all, func(x T) bool { return nameOf(x) == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func shapeNamed(t *testing.T, name string) Shape { return named(t, name, All, ShapeName) }

func densityNamed(t *testing.T, name string) Density {
	return named(t, name, append(Densities, Anywhere), DensityName)
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
		{"geth-trie", 0, "A"},
		{"geth-trie", 16, "A\x0f"},
		{"geth-trie", 17, "A\x00\x00"},
		{"geth-trie", 1 + 16 + 0xb7, "A\x0b\x07"},
		{"geth-number", 0x0102, "h\x00\x00\x00\x00\x00\x00\x01\x02n"},
		{"iavl", 32*0x0102 + 4, "s/k:bank/n\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x00\x05"},
		// 1.7e18 is 0x1797_9cfe_362a_0000; a second is 0x3b9a_ca00.
		{"cockroach", 0, "\xf0\x89\x88\x88\x00\x17\x97\x9c\xfe\x36\x2a\x00\x00\x09"},
		{"cockroach", 3*109 + 1, "\xf0\x89\xf5\x88\x00\x17\x97\x9c\xfe\x71\xc4\xca\x00\x09"},
		{"cockroach", 3 * 0x0102,
			"\xf0\x89\xf7\x01\x02\x88\x00\x17\x97\x9c\xfe\x36\x2a\x00\x00\x09"},
		// 1.7e12 is 0x18b_cfe5_6800; 7.5 s are 0x1d4c.
		{"timeseries", 1<<14 + 1,
			"\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x01\x8b\xcf\xe5\x85\x4c"},
		{"tuple", 0, "\x02orders\x00\x14\x14"},
		{"tuple", 0x0102*1000 + 7, "\x02orders\x00\x16\x01\x02\x15\x07"},
	} {
		require.Equal(t, c.key, string(shapeNamed(t, c.shape).Append(nil, 7, c.index)), c.shape)
		require.Equal(t, "x"+c.key, string(shapeNamed(t, c.shape).Append([]byte("x"), 7, c.index)),
			c.shape)
	}
	require.Len(t, shapeNamed(t, "random").Append(nil, 7, 1234), 16)
	require.Regexp(t,
		regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
		string(shapeNamed(t, "uuid").Append(nil, 7, 1234)))
	// 1.7e12 + 1000 ms are 0x018bcfe56be8; version 7, variant 0b10 (RFC 9562).
	id := fmt.Sprintf("%x", shapeNamed(t, "uuid7").Append(nil, 7, 8*1000))
	require.Regexp(t, regexp.MustCompile("^018bcfe56be87[0-9a-f]{3}[89ab][0-9a-f]{15}$"), id)
}

// Examples are text, or hexadecimal, and short.
func TestExamples(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user0000000000000042", "bigendian": "0x000000000000002a",
		"url": "https://host0.example...", "iavl": "0x732f6b3a62616e6b2f6...", "none": "",
	} {
		require.Equal(t, want, ExampleOf(name))
	}
	for _, s := range All {
		require.NotEmpty(t, s.Example())
		require.LessOrEqual(t, len(s.Example()), 24)
		for _, d := range s.Densities(Densities) {
			require.NotEmpty(t, d.Doc)
		}
	}
}

// Keys of a program's shape share what they share in the program.
func TestRealKeys(t *testing.T) {
	key := func(shape string, index uint64) string {
		return string(shapeNamed(t, shape).Append(nil, 7, index))
	}
	for shape, want := range map[string]struct {
		first  string
		length int
	}{
		"geth-account": {"a", 1 + 32},
		"geth-storage": {"o", 1 + 2*32},
		"geth-header":  {"h\x00\x00\x00\x00\x00\x00\x00\x02", 1 + 8 + 32},
	} {
		require.True(t, strings.HasPrefix(key(shape, 4), want.first), shape)
		require.Len(t, key(shape, 4), want.length, shape)
	}
	require.Equal(t, key("geth-storage", 5)[:33], key("geth-storage", 63)[:33], "one account")
	require.NotEqual(t, key("geth-storage", 63)[:33], key("geth-storage", 64)[:33])
	require.Equal(t, key("geth-header", 4)[:9], key("geth-header", 5)[:9], "one number")

	s := shapeNamed(t, "cockroach")
	r := &Range{Density: s.Density, Seed: 3, N: 999}
	versions := map[string]int{}
	for i := range r.Present() {
		row := s.Append(nil, 0, i)
		versions[string(row[:len(row)-s.Suffix])]++
	}
	require.Len(t, versions, 333)
	for _, n := range versions {
		require.Equal(t, 3, n)
	}
}

// Different indexes give different keys, at both ends of what a shape has. Another seed gives
// others if and only if the shape is unordered.
func TestKeysDiffer(t *testing.T) {
	for _, s := range All {
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
			add(uint64(Indexes) - 1 - i)
		}
		const step = uint64(Indexes) / 1009
		for i := n; i+1000 < uint64(Indexes)-n && len(seen) < 50_000; i += step {
			add(i)
		}
		require.Equal(t, s.Unordered, string(s.Append(nil, 7, 5)) != string(s.Append(nil, 8, 5)),
			s.Name)
	}
}

// Keys of a range are those that Append returns.
func TestKeysOfIndexes(t *testing.T) {
	for _, s := range All {
		indexes := []uint64{0, 999, 1000, 7}
		for i, key := range s.Keys(slices.Values(indexes), 3) {
			require.Equal(t, s.Append(nil, 3, indexes[i]), key)
			require.Equal(t, len(key), cap(key))
		}
	}
}

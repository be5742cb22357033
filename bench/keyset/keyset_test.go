package keyset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func mustShape(t *testing.T, name string) Shape {
	s, err := ShapeNamed(name)
	require.NoError(t, err)
	return s
}

func TestShapes(t *testing.T) {
	key := func(shape string, index uint64) string { return string(mustShape(t, shape).appendKey(nil, 7, index)) }
	require.Equal(t, "0000000000001234", key("decimal", 1234))
	require.Equal(t, "\x00\x00\x00\x00\x00\x00\x04\xd2", key("bigendian", 1234))
	require.Len(t, key("random", 1234), 16)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, key("uuid", 1234))
	for _, s := range Shapes {
		require.NotEqual(t, key(s.Name, 1), key(s.Name, 2), s.Name)
	}
	_, err := ShapeNamed("octal")
	require.EqualError(t, err, `no key shape "octal": choose one of decimal, bigendian, random, uuid`)
}

// Present, absent and guard keys never meet; in ordered shapes they lie where their names say.
func TestSet(t *testing.T) {
	for _, shape := range Shapes {
		for _, density := range []float64{0.01, 0.5, 0.63, 0.9999} {
			t.Run(fmt.Sprintf("%s/%v", shape.Name, density), func(t *testing.T) {
				const num = 1000
				s, err := New(shape, num, density, 1)
				require.NoError(t, err)
				seen := map[string]string{}
				add := func(kind string, key []byte) {
					require.Empty(t, seen[string(key)], "%s key %x", kind, key)
					seen[string(key)] = kind
				}
				last := ""
				for i := range s.Len() {
					key := s.AppendPresent(nil, i)
					add("present", key)
					last = max(last, string(key))
				}
				for _, key := range s.Between(s.span - num) {
					add("between", key)
				}
				for _, key := range s.Beyond(500) {
					add("beyond", key)
				}
				guard := s.AppendGuard(nil)
				add("guard", guard)
				require.InDelta(t, num/density, float64(s.span), 2)

				if shape.Name == "decimal" || shape.Name == "bigendian" {
					for key, kind := range seen {
						switch kind {
						case "beyond":
							require.Greater(t, key, last)
							require.Less(t, key, string(guard))
						case "between":
							require.Less(t, key, string(shape.appendKey(nil, 0, uint64(s.span))))
						}
					}
				}
				for _, key := range s.Present(num) {
					require.Equal(t, "present", seen[string(key)])
					delete(seen, string(key)) // each comes once
				}
			})
		}
	}
}

func TestFewKeys(t *testing.T) {
	s, err := New(mustShape(t, "decimal"), 3, 0.6, 1)
	require.NoError(t, err)
	require.Len(t, s.Present(9), 3)
	require.Len(t, s.Between(9), 2)
	require.Len(t, s.Beyond(9), 9)
}

// What is stored first must not be looked up first: it lies in other levels. And another seed gives another order.
func TestOrders(t *testing.T) {
	s, err := New(mustShape(t, "decimal"), 1000, 0.6, 1)
	require.NoError(t, err)
	other, err := New(mustShape(t, "decimal"), 1000, 0.6, 2)
	require.NoError(t, err)
	same, sameAsOther := 0, 0
	for i, key := range s.Present(1000) {
		if string(key) == string(s.AppendPresent(nil, i)) {
			same++
		}
		if string(s.AppendPresent(nil, i)) == string(other.AppendPresent(nil, i)) {
			sameAsOther++
		}
	}
	require.Less(t, same, 20)
	require.Less(t, sameAsOther, 20)
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		num     int
		density float64
		message string
	}{{0, 0.5, "1 or more"}, {1, 0, "between 0 and 1"}, {1, 1, "between 0 and 1"}, {1, -1, "between 0 and 1"}, {1 << 30, 0.1, "fewer keys"}} {
		_, err := New(mustShape(t, "decimal"), c.num, c.density, 1)
		require.ErrorContains(t, err, c.message)
	}
}

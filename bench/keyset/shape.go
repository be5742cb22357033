package keyset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// A Shape turns an index into a key. Different indexes give different keys.
type Shape struct {
	Name        string
	Description string
	appendKey   func(dst []byte, seed, index uint64) []byte
}

// Shapes lists all shapes.
var Shapes = []Shape{
	{"decimal", "the index as %016d", func(dst []byte, _, index uint64) []byte {
		return fmt.Appendf(dst, "%016d", index)
	}},
	{"bigendian", "the index as 8 bytes, big-endian", func(dst []byte, _, index uint64) []byte {
		return binary.BigEndian.AppendUint64(dst, index)
	}},
	{"random", "16 random bytes", appendRandom},
	{"uuid", "a random UUID as text, 36 bytes", func(dst []byte, seed, index uint64) []byte {
		id, err := uuid.NewRandomFromReader(bytes.NewReader(appendRandom(nil, seed, index)))
		if err != nil {
			panic(err) // 16 bytes are there to be read
		}
		return append(dst, id.String()...)
	}},
}

// ShapeNamed returns the shape of that name, or an error that lists the names.
func ShapeNamed(name string) (Shape, error) {
	var names []string
	for _, s := range Shapes {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Shape{}, fmt.Errorf("no key shape %q: choose one of %s", name, strings.Join(names, ", "))
}

// appendRandom appends 16 bytes that only seed and index determine. Each half is a permutation of the 64-bit numbers, so
// no two indexes share a key.
func appendRandom(dst []byte, seed, index uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, Mix(index+seed))
	return binary.LittleEndian.AppendUint64(dst, Mix(index-seed))
}

// Mix is SplitMix64's output function (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

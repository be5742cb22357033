// Package keys makes the keys that the benchmarks store and look up.
//
// A Shape turns an index into a key. A Set is the keys of a database.
package keys

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A Shape turns an index into a key. Different indexes below 1e12 give different keys.
type Shape struct {
	Name string
	Key  func(seed, index uint64) []byte // seed is for random keys alone
}

// indexes is the number of keys that every shape has.
const indexes = 1e12

// Shapes lists shapes that show what matters to filters.
var Shapes = []Shape{
	{"random", random},
	{"decimal", func(_, i uint64) []byte { return fmt.Appendf(nil, "%016d", i) }},
	{"decimal15", func(_, i uint64) []byte { return fmt.Appendf(nil, "%015d", i) }}, // odd length
	{"user", func(_, i uint64) []byte { return fmt.Appendf(nil, "user%016d", i) }},
	{"bigendian", func(_, i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }},
	{"littleendian", func(_, i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) }},
}

// ShapesOf returns the shapes of those names.
func ShapesOf(names ...string) (all []Shape) {
	for _, s := range Shapes {
		if slices.Contains(names, s.Name) {
			all = append(all, s)
		}
	}
	return all
}

// Keys returns the keys at the indexes.
func (s Shape) Keys(at []uint64, seed uint64) (all [][]byte) {
	for _, index := range at {
		all = append(all, s.Key(seed, index))
	}
	return all
}

// random returns 16 bytes. Each half is a permutation of the 64-bit numbers, so no two indexes of a
// seed share a key. With seed 0 the halves are the same.
func random(seed, index uint64) []byte {
	half := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), Mix(index+seed))
	return binary.LittleEndian.AppendUint64(half, Mix(index-seed))
}

// Mix is SplitMix64's output function (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014), a permutation of the 64-bit numbers.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

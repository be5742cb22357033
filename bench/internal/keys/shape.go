// Package keys makes the keys that the benchmarks store and look up.
//
// A Shape turns an index into a key. A Set is the keys of a database.
package keys

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// A Shape turns an index into a key. Different indexes below 1e12 give different keys.
type Shape struct {
	Name   string
	Append func(dst []byte, seed, index uint64) []byte // seed is for random keys alone
}

// indexes is the number of keys that every shape has.
const indexes = 1e12

// Shapes lists shapes that show what matters to filters.
var Shapes = []Shape{
	{"random", appendRandom},       // 16 random bytes
	numbered("decimal", "", 16),    // %016d
	numbered("decimal15", "", 15),  // %015d, whose length is odd
	numbered("user", "user", 16),   // user%016d
	{"bigendian", bigEndian},       // 8 bytes
	{"littleendian", littleEndian}, // 8 bytes
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

// Keys returns the keys at the indexes, one after the other in memory.
func (s Shape) Keys(at []uint64, seed uint64) [][]byte {
	all := make([][]byte, len(at))
	lengths := make([]int, len(at))
	var arena []byte
	for i, index := range at {
		before := len(arena)
		arena = s.Append(arena, seed, index)
		lengths[i] = len(arena) - before
	}
	for i, n := range lengths {
		all[i], arena = arena[:n:n], arena[n:]
	}
	return all
}

// appendRandom appends 16 bytes. Each half is a permutation of the 64-bit numbers, so no two
// indexes of a seed share a key. With seed 0 the halves are the same.
func appendRandom(dst []byte, seed, index uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, Mix(index+seed))
	return binary.LittleEndian.AppendUint64(dst, Mix(index-seed))
}

func bigEndian(dst []byte, _, index uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, index)
}

func littleEndian(dst []byte, _, index uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, index)
}

// numbered returns a shape of a prefix and a number of that many digits. fmt would take most of the
// time of `bench rates`.
func numbered(name, prefix string, width int) Shape {
	zeros := prefix + strings.Repeat("0", width)
	return Shape{Name: name, Append: func(dst []byte, _, index uint64) []byte {
		digits := strconv.FormatUint(index, 10)
		dst = append(dst, zeros[:len(zeros)-len(digits)]...)
		return append(dst, digits...)
	}}
}

// Mix is SplitMix64's output function (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014), a permutation of the 64-bit numbers.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

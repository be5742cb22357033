// Package keys makes the keys that the benchmarks store and look up.
//
// A Shape turns an index into a key. A Density says which indexes of a Range are present. A Set is
// such a range, drawn up in random order for a database.
package keys

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

// A Shape turns an index into a key. Different indexes give different keys.
type Shape struct {
	Name        string
	Description string
	Indexes     uint64 // there is a key for each index below
	Seeded      bool   // another seed gives other keys; otherwise the seed does nothing
	Unordered   bool   // the keys have no order, so their density makes no difference
	Append      func(dst []byte, seed, index uint64) []byte
}

const (
	manyIndexes = 1e12
	lengths     = 4096

	// A key of the shape "bits" has 4 parts of 16 bytes. Each digit of the index in base 128 says
	// which bit of its part differs from the base key's: none (0) or one of 127.
	bitParts     = 4
	bitPartBytes = 16
	bitPartBase  = 8 * bitPartBytes
)

// Shapes lists all shapes with names.
var Shapes = []Shape{
	{"random", "16 random bytes", 1 << 63, true, true, appendRandom},
	{"uuid", "a random UUID as text", 1 << 63, true, true, appendUUID},
	ordered("decimal", "%016d", manyIndexes, func(dst []byte, index uint64) []byte {
		return appendDigits(dst, 16, index)
	}),
	ordered("user", "user%016d", manyIndexes, func(dst []byte, index uint64) []byte {
		return appendDigits(append(dst, "user"...), 16, index)
	}),
	ordered("key", "key%09d", 1e9, func(dst []byte, index uint64) []byte {
		return appendDigits(append(dst, "key"...), 9, index)
	}),
	ordered("bigendian", "8 bytes, big-endian", manyIndexes, binary.BigEndian.AppendUint64),
	ordered(
		"littleendian",
		"8 bytes, little-endian",
		manyIndexes,
		binary.LittleEndian.AppendUint64,
	),
	ordered("url", "https://host%d.example.com/articles/%d/comments, 1000 articles per host",
		manyIndexes, func(dst []byte, index uint64) []byte {
			dst = strconv.AppendUint(append(dst, "https://host"...), index/1000, 10)
			dst = strconv.AppendUint(append(dst, ".example.com/articles/"...), index, 10)
			return append(dst, "/comments"...)
		}),
	ordered("composite", "table%d/tenant%d/row%d, 1000 rows per tenant, 1000 tenants per table",
		manyIndexes, func(dst []byte, index uint64) []byte {
			dst = strconv.AppendUint(append(dst, "table"...), index/1e6, 10)
			dst = strconv.AppendUint(append(dst, "/tenant"...), index/1000%1000, 10)
			return strconv.AppendUint(append(dst, "/row"...), index%1000, 10)
		}),
	{"bits", "64 bytes that differ from a random key in 1 to 4 " +
		"bits", 1 << 28, true, false, appendBits},
	{"length", "8 random bytes and a number of zero bytes", lengths, true, false, lengthOf(0)},
	{"length-a", "8 random bytes and a number of letters a", lengths, true, false, lengthOf('a')},
	padded("padded16", 16),
	padded("padded40", 40),
	padded("padded250", 250),
	ordered("prefix", "200 letters and %012d", manyIndexes, func(dst []byte, index uint64) []byte {
		return appendDigits(appendRepeated(dst, 'p', 200), 12, index)
	}),
}

// ShapeName returns s's name.
func ShapeName(s Shape) string { return s.Name }

// ordered returns a shape whose keys the index alone determines.
func ordered(
	name, description string,
	indexes uint64,
	appendKey func([]byte, uint64) []byte,
) Shape {
	return Shape{name, description, indexes, false, false,
		func(dst []byte, _, index uint64) []byte { return appendKey(dst, index) }}
}

func padded(name string, length int) Shape {
	description := "%d and zero bytes up to " + strconv.Itoa(length)
	return ordered(name, description, manyIndexes, func(dst []byte, index uint64) []byte {
		end := len(dst) + length
		dst = strconv.AppendUint(dst, index, 10)
		return appendRepeated(dst, 0, end-len(dst))
	})
}

// appendRandom appends 16 bytes. Each half is a permutation of the 64-bit numbers, so no two
// indexes of a seed share a key.
func appendRandom(dst []byte, seed, index uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, Mix(index+seed))
	return binary.LittleEndian.AppendUint64(dst, Mix(index-seed))
}

func appendUUID(dst []byte, seed, index uint64) []byte {
	var id uuid.UUID
	appendRandom(id[:0], seed, index)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, RFC 4122's variant
	return append(dst, id.String()...)
}

func appendBits(dst []byte, seed, index uint64) []byte {
	start := len(dst)
	for part := range uint64(bitParts) {
		dst = appendRandom(dst, seed, part)
	}
	for end := len(dst); end > start; end -= bitPartBytes { // the last part differs most often
		if digit := index % bitPartBase; digit > 0 {
			dst[end-bitPartBytes+int(digit-1)/8] ^= 1 << ((digit - 1) % 8)
		}
		index /= bitPartBase
	}
	return dst
}

func lengthOf(letter byte) func(dst []byte, seed, index uint64) []byte {
	return func(dst []byte, seed, index uint64) []byte {
		return appendRepeated(binary.LittleEndian.AppendUint64(dst, seed), letter, int(index))
	}
}

// appendDigits appends index as %0[width]d; it must not have more digits. fmt would take most of
// the time of `bench rates`.
func appendDigits(dst []byte, width int, index uint64) []byte {
	dst = appendRepeated(dst, '0', width)
	for i := len(dst) - 1; index > 0; i-- {
		dst[i] += byte(index % 10)
		index /= 10
	}
	return dst
}

func appendRepeated(dst []byte, b byte, n int) []byte {
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	for i := range dst[start:] {
		dst[start+i] = b
	}
	return dst
}

// MinLength is the least length of random keys: with fewer bytes two indexes could share a key.
const MinLength = 8

// AppendRandom appends the key of an index: length random bytes, at least MinLength.
func AppendRandom(dst []byte, length int, index uint64) []byte {
	x := Mix(index)
	end := len(dst) + length
	for ; len(dst) < end; x = Mix(x) {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst[:end]
}

// Mix is SplitMix64's output function (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014), a permutation of the 64-bit numbers.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

package ratebench

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/levelbloom/levelbloom/bench/keyset"
)

// A Shape turns an index into a key. Different indexes give different keys.
type Shape struct {
	Name        string
	Description string
	indexes     uint64 // There is a key for each one below.
	seeded      bool   // The seed makes other keys of the same indexes. Otherwise it does nothing.
	unordered   bool   // Which indexes are present makes no difference to the keys.
	appendKey   func(dst []byte, seed, index uint64) []byte
}

const (
	manyIndexes  = 1e12
	commonPrefix = 200
	lengths      = 4096

	// A key of the shape "bits" consists of parts of 16 bytes. Each digit of the index in base 128 says which bit of its part
	// differs from the base key's: none (0) or one of 127. So up to 4 bits differ, and up to 1 in the first 128 keys.
	bitParts     = 4
	bitPartBytes = 16
	bitPartBase  = 8 * bitPartBytes
)

// Shapes lists all shapes.
var Shapes = []Shape{
	{"random", "16 random bytes", 1 << 63, true, true, appendRandom},
	{"uuid", "a random UUID as text", 1 << 63, true, true, func(dst []byte, seed, index uint64) []byte {
		id := uuid.UUID(appendRandom(nil, seed, index))
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, RFC 4122's variant
		return append(dst, id.String()...)
	}},
	{"decimal", "%016d", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		return appendDigits(dst, 16, index)
	}},
	{"user", "user%016d", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		return appendDigits(append(dst, "user"...), 16, index)
	}},
	{"key", "key%09d", 1e9, false, false, func(dst []byte, _, index uint64) []byte {
		return appendDigits(append(dst, "key"...), 9, index)
	}},
	{"bigendian", "8 bytes, big-endian", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		return binary.BigEndian.AppendUint64(dst, index)
	}},
	{"littleendian", "8 bytes, little-endian", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		return binary.LittleEndian.AppendUint64(dst, index)
	}},
	{"url", "https://host%d.example.com/articles/%d/comments, 1000 articles per host", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		dst = strconv.AppendUint(append(dst, "https://host"...), index/1000, 10)
		dst = strconv.AppendUint(append(dst, ".example.com/articles/"...), index, 10)
		return append(dst, "/comments"...)
	}},
	{"composite", "table%d/tenant%d/row%d, 1000 rows per tenant, 1000 tenants per table", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		dst = strconv.AppendUint(append(dst, "table"...), index/1e6, 10)
		dst = strconv.AppendUint(append(dst, "/tenant"...), index/1000%1000, 10)
		return strconv.AppendUint(append(dst, "/row"...), index%1000, 10)
	}},
	{"bits", "64 bytes that differ from a random key in 1 bit (the first 128 of them), 2 (16,384), 3 (2M) or 4", 1 << 28, true, false, appendBits},
	{"length", "8 random bytes, the same for all keys of a filter, and a number of zero bytes that differs", lengths, true, false, func(dst []byte, seed, index uint64) []byte {
		return appendRepeated(binary.LittleEndian.AppendUint64(dst, seed), 0, int(index))
	}},
	{"length-a", "the same with the letter a", lengths, true, false, func(dst []byte, seed, index uint64) []byte {
		return appendRepeated(binary.LittleEndian.AppendUint64(dst, seed), 'a', int(index))
	}},
	{"padded16", "%d and zero bytes up to 16", manyIndexes, false, false, paddedTo(16)},
	{"padded40", "%d and zero bytes up to 40", manyIndexes, false, false, paddedTo(40)},
	{"padded250", "%d and zero bytes up to 250", manyIndexes, false, false, paddedTo(250)},
	{"prefix", "200 letters and %012d", manyIndexes, false, false, func(dst []byte, _, index uint64) []byte {
		return appendDigits(appendRepeated(dst, 'p', commonPrefix), 12, index)
	}},
}

// appendRandom appends 16 bytes that only seed and index determine. Each half is a permutation of the 64-bit numbers.
func appendRandom(dst []byte, seed, index uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, keyset.Mix(index+seed))
	return binary.LittleEndian.AppendUint64(dst, keyset.Mix(index-seed))
}

func appendBits(dst []byte, seed, index uint64) []byte {
	start := len(dst)
	for part := range uint64(bitParts) {
		dst = appendRandom(dst, seed, part)
	}
	for end := len(dst); end > start; end -= bitPartBytes { // as in a number, the last part differs most often
		if digit := index % bitPartBase; digit > 0 {
			dst[end-bitPartBytes+int(digit-1)/8] ^= 1 << ((digit - 1) % 8)
		}
		index /= bitPartBase
	}
	return dst
}

// appendDigits appends index as %0[width]d. REQUIRES: it has no more digits. (fmt would take most of the time of a run.)
func appendDigits(dst []byte, width int, index uint64) []byte {
	dst = appendRepeated(dst, '0', width)
	for i := len(dst) - 1; index > 0; i-- {
		dst[i] += byte(index % 10)
		index /= 10
	}
	return dst
}

func paddedTo(length int) func(dst []byte, seed, index uint64) []byte {
	return func(dst []byte, _, index uint64) []byte {
		end := len(dst) + length
		dst = strconv.AppendUint(dst, index, 10)
		return appendRepeated(dst, 0, end-len(dst))
	}
}

func appendRepeated(dst []byte, b byte, n int) []byte {
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	for i := range dst[start:] {
		dst[start+i] = b
	}
	return dst
}

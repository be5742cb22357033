package filterbench

import (
	"encoding/binary"

	"github.com/levelbloom/levelbloom/bench/keyset"
)

const (
	minLength = 8 // so that every key is different
	maxMixed  = 64
)

// firstAbsent is the number of the first absent key. Present keys have the numbers from 0 on.
const firstAbsent = 1 << 40

// appendKey appends the key of that number: random bytes, different for each number.
func appendKey(dst []byte, length int, number uint64) []byte {
	x := keyset.Mix(number)
	if length == Mixed {
		length = minLength + int(keyset.Mix(x)%(maxMixed-minLength+1))
	}
	end := len(dst) + length
	for ; len(dst) < end; x = keyset.Mix(x) {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst[:end]
}

// makeKeys returns n keys that lie one behind the other in memory.
func makeKeys(n, length int, number func(i int) uint64) [][]byte {
	expected := length
	if length == Mixed {
		expected = (minLength + maxMixed + 1) / 2
	}
	arena := make([]byte, 0, n*expected)
	ends := make([]int, n)
	for i := range ends {
		arena = appendKey(arena, length, number(i))
		ends[i] = len(arena)
	}
	keys := make([][]byte, n)
	start := 0
	for i, end := range ends {
		keys[i] = arena[start:end:end]
		start = end
	}
	return keys
}

package policy

import "encoding/binary"

// Hash returns LevelDB's 32-bit hash of key with the seed of its Bloom filter, 0xbc9f1d34; the package comment has the
// algorithm (LevelDB's util/hash.cc, "similar to murmur hash"). The trailing bytes count as unsigned, as in C++ LevelDB
// since 1.18. It is not collision-resistant.
func Hash(key []byte) uint32 {
	const (
		seed = 0xbc9f1d34
		m    = 0xc6a4a793
	)
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	switch len(key) {
	case 3:
		h += uint32(key[2]) << 16
		fallthrough
	case 2:
		h += uint32(key[1]) << 8
		fallthrough
	case 1:
		h += uint32(key[0])
		h *= m
		h ^= h >> 24
	}
	return h
}

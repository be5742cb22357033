package bloom

import "encoding/binary"

const (
	hashSeed       = 0xbc9f1d34 // LevelDB's util/bloom.cc
	hashMultiplier = 0xc6a4a793 // LevelDB's util/hash.cc
)

// LevelDB's hash of a key is HashTail(HashWords(HashStart(key), key), key): three steps, because
// the compiler inlines them, and not one function of their size. A call would keep the processor
// from starting the next key early.

// HashStart begins the hash of a key.
func HashStart(key []byte) uint32 {
	return hashSeed ^ uint32(len(key))*hashMultiplier
}

// HashWords continues a hash over the whole words of key.
func HashWords(h uint32, key []byte) uint32 {
	for i, last := 0, len(key)-4; i <= last; i += 4 {
		h = hashWord(h, binary.LittleEndian.Uint32(key[i:i+4]))
	}
	return h
}

func hashWord(h, word uint32) uint32 {
	h = (h + word) * hashMultiplier
	return h ^ h>>16
}

// HashTail ends a hash with the 1 to 3 bytes after key's last whole word, if there are any. They
// are the high bytes of the key's last four, so in all but the shortest keys one shift finds them.
// A branch on their number would often be mispredicted where lengths vary.
func HashTail(h uint32, key []byte) uint32 {
	if len(key)%4 == 0 {
		return h
	}
	var tail uint32
	if len(key) > 4 {
		tail = binary.LittleEndian.Uint32(key[len(key)-4:]) >> (-8 * len(key) & 31)
	} else {
		for i, b := range key {
			tail |= uint32(b) << (8 * i)
		}
	}
	h = (h + tail) * hashMultiplier
	return h ^ h>>24
}

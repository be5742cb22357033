package policy

import "encoding/binary"

// hashGroup is how many keys are hashed before their hashes are used: enough that what a group costs by itself does not
// count, and few enough for the stack. (An index fits a byte: testSome.)
const hashGroup = 128

// hashKeys hashes every key, as Hash does. REQUIRES: len(hashes) >= len(keys).
func hashKeys(hashes []uint32, keys [][]byte) {
	if groups := len(keys) / lanes; useLanes && groups > 0 {
		if !hashLanes(&hashes[0], &keys[0], groups) {
			for i, key := range keys[:groups*lanes] {
				if len(key) > maxRow {
					hashes[i] = Hash(key)
				}
			}
		}
		hashes, keys = hashes[groups*lanes:], keys[groups*lanes:]
	}
	for ; len(keys) >= 4; hashes, keys = hashes[4:], keys[4:] {
		hash4((*[4]uint32)(hashes), (*[4][]byte)(keys))
	}
	for i, key := range keys {
		hashes[i] = Hash(key)
	}
}

// hash4 hashes four keys. Each step of a hash waits for the one before, and the processor is idle most of that time: four
// keys of the same length, in turn, fill it. (Keys of mixed lengths, in turn as far as the shortest goes, took longer than
// one by one.)
func hash4(hashes *[4]uint32, keys *[4][]byte) {
	k0, k1, k2, k3 := keys[0], keys[1], keys[2], keys[3]
	n := len(k0)
	if len(k1) != n || len(k2) != n || len(k3) != n {
		*hashes = [4]uint32{Hash(keys[0]), Hash(keys[1]), Hash(keys[2]), Hash(keys[3])}
		return
	}
	k1, k2, k3 = k1[:n:n], k2[:n:n], k3[:n:n] // so that the compiler checks no bounds in the loop
	h0 := hashStart(k0)
	h1, h2, h3 := h0, h0, h0
	for i := 0; i <= n-4; i += 4 {
		h0 = hashWord(h0, binary.LittleEndian.Uint32(k0[i:i+4]))
		h1 = hashWord(h1, binary.LittleEndian.Uint32(k1[i:i+4]))
		h2 = hashWord(h2, binary.LittleEndian.Uint32(k2[i:i+4]))
		h3 = hashWord(h3, binary.LittleEndian.Uint32(k3[i:i+4]))
	}
	*hashes = [4]uint32{h0, h1, h2, h3}
	if n%4 != 0 {
		for i, key := range keys {
			hashes[i] = hashTail(hashes[i], key)
		}
	}
}

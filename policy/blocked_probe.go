package policy

import (
	"math/bits"
	"unsafe"
)

// Probe j is remix^j times the low half of the hash, whose top bits differ for every j. remix is
// 2^32 / golden ratio, made odd (Knuth, TAOCP 3, section 6.4), as in RocksDB's format_version 5.
const (
	remix  = 0x9e3779b9
	remix2 = remix * remix & 0xffffffff
	remix3 = remix2 * remix & 0xffffffff
	remix4 = remix3 * remix & 0xffffffff
	remix5 = remix4 * remix & 0xffffffff
)

// MayContain reports whether key may have been added to filter. It answers as the function
// [MayContain].
func (*BlockedBloom) MayContain(filter, key []byte) bool {
	// In a large filter a lookup waits for one line, and the fewer instructions it takes, the more
	// lookups wait at the same time (`go run ./bench filters -work lookup -n 1M`). So all but the
	// hash is one function, and the six probes of 10 bits per key are no loop.
	if len(filter) < 2 || filter[len(filter)-1] != byte(EncodingBlocked) {
		return MayContain(filter, key)
	}
	payload, k, ok := blockedParts(filter)
	if !ok {
		return true
	}
	h := keyHash(key)
	if len(payload) <= blockedSingle {
		return singleTest(payload, k, uint32(h))
	}
	l, x := lineOf(payload, h), uint32(h)
	if k == 6 {
		return l.four(x)&l.at(x*remix4)&l.at(x*remix5)&1 != 0
	}
	return l.test(x, k) != 0
}

// A line contains all bits of a key, if the payload is divided into lines.
type line [lineBytes]byte

// lineOf returns the line of a key with hash h.
// REQUIRES: len(payload) is a positive multiple of lineBytes.
func lineOf(payload []byte, h uint64) *line {
	// h>>32 is a fraction of 2^32, and i is the same fraction of the number of lines, rounded down:
	// below that number for every h. The compiler does not see it, and to slice would add a check
	// to every lookup.
	i := h >> 32 * uint64(len(payload)/lineBytes) >> 32
	return (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(payload)), i*lineBytes))
}

// at returns the byte of probe x, rotated so that its lowest bit is the bit of the probe; the other
// bits mean nothing. The top 9 bits of x are the number of the bit.
func (l *line) at(x uint32) byte { return bits.RotateLeft8(l[x>>26], -int(x>>23)) }

// four returns the AND of the bytes of four probes.
func (l *line) four(x uint32) byte {
	return l.at(x) & l.at(x*remix) & l.at(x*remix2) & l.at(x*remix3)
}

// rest returns 1 if the bits of probe x and of the k-1 probes after it are set, otherwise 0.
func (l *line) rest(x uint32, k int) byte {
	all := byte(1)
	for range k {
		all &= l.at(x)
		x *= remix
	}
	return all
}

// test returns the same for all k probes of a key, without a branch that depends on a bit.
func (l *line) test(x uint32, k int) byte {
	if k < 4 {
		return l.rest(x, k)
	}
	return l.four(x) & l.rest(x*remix4, k-4)
}

// set sets the bit of probe x.
func (l *line) set(x uint32) { l[x>>26] |= bits.RotateLeft8(1, int(x>>23)) }

// singleTest reports whether the k bits of a key are set in a payload that is a single line. x is a
// fraction of 2^32, and the number of the bit is the same fraction of the number of bits: below
// that number, which the compiler does not see.
func singleTest(payload []byte, k int, x uint32) bool {
	first, nbits := unsafe.Pointer(unsafe.SliceData(payload)), 8*uint64(len(payload))
	at := func(x uint32) byte {
		bit := uint64(x) * nbits >> 32
		return bits.RotateLeft8(*(*byte)(unsafe.Add(first, bit/8)), -int(bit))
	}
	if k >= 4 {
		if at(x)&at(x*remix)&at(x*remix2)&at(x*remix3)&1 == 0 {
			return false
		}
		x *= remix4
		k -= 4
	}
	if k == 2 {
		return at(x)&at(x*remix)&1 != 0
	}
	all := byte(1)
	for range k {
		all &= at(x)
		x *= remix
	}
	return all != 0
}

// setBlocked sets the k bits of every key of the given hashes.
func setBlocked(payload []byte, hashes []uint64, k int) {
	if len(payload) <= blockedSingle {
		nbits := 8 * uint64(len(payload))
		for _, h := range hashes {
			x := uint32(h)
			for range k {
				bit := uint64(x) * nbits >> 32
				payload[bit/8] |= bits.RotateLeft8(1, int(bit))
				x *= remix
			}
		}
		return
	}
	for _, h := range hashes {
		l, x, left := lineOf(payload, h), uint32(h), k
		if k >= 4 {
			l.set(x)
			l.set(x * remix)
			l.set(x * remix2)
			l.set(x * remix3)
			x *= remix4
			left -= 4
		}
		for range left {
			l.set(x)
			x *= remix
		}
	}
}

// blockedMayContainMany reads a filter whose last byte is EncodingBlocked for many keys. It hashes
// some, then tests them without a branch between them, so that their reads of memory overlap.
func blockedMayContainMany(filter []byte, keys [][]byte, out []bool) {
	payload, k, ok := blockedParts(filter)
	if !ok {
		setAll(out)
		return
	}
	var hashes [hashGroup]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		for i, h := range hashes[:n] {
			if len(payload) <= blockedSingle {
				out[i] = singleTest(payload, k, uint32(h))
			} else {
				out[i] = lineOf(payload, h).test(uint32(h), k) != 0
			}
		}
		keys, out = keys[n:], out[n:]
	}
}

package policy

import (
	"math/bits"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// keyHash is the hash of the encodings in the reserved range: XXH3 with 64 bits and seed 0. Its halves are independent: the
// high one chooses a line, the low one the bits in it.
//
// It is a library's because many have looked at that. zeebo/xxh3 is the one that Go programs mostly use, gives the same on
// all platforms, and needs nothing but a library for CPU features.
func keyHash(key []byte) uint64 { return xxh3.Hash(key) }

// Probe j is remix^j times the low half of the hash, whose top bits differ for every j. (remix is 2^32 / golden ratio, made
// odd: Knuth, TAOCP 3, section 6.4. RocksDB's format_version 5 makes its probes so too.)
const (
	remix  = 0x9e3779b9
	remix2 = remix * remix & 0xffffffff
	remix3 = remix2 * remix & 0xffffffff
	remix4 = remix3 * remix & 0xffffffff
)

// MayContain reports whether key may have been added to filter. It answers as the function [MayContain].
//
// As in [Bloom.MayContain], four probes are tested together. All but the hash is one function, since each call is in the
// way of the next key.
func (*BlockedBloom) MayContain(filter, key []byte) bool {
	if len(filter) < 2 || filter[len(filter)-1] != blockedBloomByte {
		return MayContain(filter, key)
	}
	payload, k, ok := blockedParts(filter)
	if !ok {
		return true
	}
	h := keyHash(key)
	x := uint32(h)
	if len(payload) <= blockedShort {
		return shortTest(payload, k, x)
	}
	l := lineOf(payload, h)
	if k < 4 {
		return l.rest(x, k) != 0
	}
	return l.four(x)&1 != 0 && l.rest(x*remix4, k-4) != 0
}

// blockedParts returns the payload and k of a filter whose last byte is blockedBloomByte. It is not ok if this is no such
// filter as this version of the encoding has: then it may contain everything.
func blockedParts(filter []byte) (payload []byte, k int, ok bool) {
	n := len(filter) - blockedTrailer
	if n < 1 || filter[n+1] != blockedVersion || n > blockedShort && n%lineBytes != 0 {
		return nil, 0, false
	}
	return filter[:n], int(filter[n]), true
}

// A line has all bits of a key, if the payload is divided into lines.
type line [lineBytes]byte

// lineOf returns the line of a key with hash h. REQUIRES: len(payload) is a positive multiple of lineBytes.
func lineOf(payload []byte, h uint64) *line {
	// h>>32 is a fraction of 2^32, and i the same one of the number of lines, rounded down: below that, whatever h is. The
	// compiler does not see it, and slicing would add its checks to every lookup.
	i := h >> 32 * uint64(len(payload)/lineBytes) >> 32
	return (*line)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(payload)), i*lineBytes))
}

// at returns the byte of probe x, turned so that its lowest bit is the bit of the probe; the others mean nothing. The top 9
// bits of x are the number of the bit.
func (l *line) at(x uint32) byte { return bits.RotateLeft8(l[x>>26], -int(x>>23)) }

// four returns the bytes of four probes, so turned, as far as they agree.
func (l *line) four(x uint32) byte {
	return l.at(x) & l.at(x*remix) & l.at(x*remix2) & l.at(x*remix3)
}

// rest returns 1 if the bits of probe x and of the k-1 after it are set, otherwise 0.
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

// shortTest reports whether the k bits of a key are set in a payload that is not divided. x is a fraction of 2^32, and so is
// the number of the bit, of all bits.
func shortTest(payload []byte, k int, x uint32) bool {
	nbits := 8 * uint64(len(payload))
	at := func(x uint32) byte {
		bit := uint64(x) * nbits >> 32
		return bits.RotateLeft8(payload[bit/8], -int(bit))
	}
	if k >= 4 {
		if at(x)&at(x*remix)&at(x*remix2)&at(x*remix3)&1 == 0 {
			return false
		}
		x *= remix4
		k -= 4
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
	if len(payload) <= blockedShort {
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

// set sets the bit of probe x.
func (l *line) set(x uint32) { l[x>>26] |= bits.RotateLeft8(1, int(x>>23)) }

// blockedMayContainMany reads a filter whose last byte is blockedBloomByte. Keys are hashed some at a time, and then tested
// without a branch between them, so that they wait for memory together.
func blockedMayContainMany(filter []byte, keys [][]byte, out []bool) {
	payload, k, ok := blockedParts(filter)
	if !ok {
		allMayBeThere(out[:len(keys)])
		return
	}
	var hashes [hashGroup]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		for i, h := range hashes[:n] {
			if len(payload) <= blockedShort {
				out[i] = shortTest(payload, k, uint32(h))
			} else {
				out[i] = lineOf(payload, h).test(uint32(h), k) != 0
			}
		}
		keys, out = keys[n:], out[n:]
	}
}

package policy

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// MayContain reports whether key may have been added to filter. It answers as the function [MayContain].
//
// All but the hash is one function, since each call is in the way of the next key.
func (*BinaryFuse) MayContain(filter, key []byte) bool {
	if len(filter) < 2 || filter[len(filter)-1] != binaryFuseByte {
		return MayContain(filter, key)
	}
	n := len(filter) - fuseTrailer
	if n < 0 {
		return true
	}
	h := keyHash(key) // first, since what is computed before would have to be kept somewhere during the call
	f := fuseOf(filter)
	h = fuseMix(h, f.seed())
	segments, log := f.segments(), f.log()
	if segments == 0 || log < 2 || log > fuseMaxLog {
		return true
	}
	segment := uint64(1) << (log & 63)
	i, _ := bits.Mul64(h, segments<<(log&63)) // so i is in one of the segments
	j := (i + segment) ^ h>>18&(segment-1)    // in the next one
	k := (i + 2*segment) ^ h&(segment-1)
	fingerprint := h ^ h>>32
	cells := (segments + 2) << (log & 63)
	switch f.end() {
	case fuseEnd | 8:
		return uint64(n) != cells || byte(fingerprint) == f.cell8(i)^f.cell8(j)^f.cell8(k)
	case fuseEnd | 12:
		return uint64(n) != cells/2*3 || (uint16(fingerprint)^f.cell12(i)^f.cell12(j)^f.cell12(k))<<4 == 0
	case fuseEnd | 16:
		return uint64(n) != cells*2 || uint16(fingerprint) == f.cell16(i)^f.cell16(j)^f.cell16(k)
	}
	return true
}

// fuseMayContainMany reads a filter whose last byte is binaryFuseByte.
func fuseMayContainMany(filter []byte, keys [][]byte, out []bool) {
	for i, key := range keys {
		out[i] = (*BinaryFuse)(nil).MayContain(filter, key)
	}
}

// fuseMix makes of a key's hash the one from which its cells and its fingerprint come. There are as many as seeds, because not
// all suit a set of keys. It is the finalizer of MurmurHash3, a bijection, which the library uses.
func fuseMix(h, seed uint64) uint64 {
	h += seed
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A fuse is a filter of fuseTrailer bytes or more. Its methods read what is in it without the checks of a slice, which would
// cost a lookup a tenth of its time and more.
type fuse struct {
	payload unsafe.Pointer
	trailer *[fuseTrailer]byte
}

func fuseOf(filter []byte) fuse {
	return fuse{unsafe.Pointer(unsafe.SliceData(filter)), (*[fuseTrailer]byte)(filter[len(filter)-fuseTrailer:])}
}

func (f fuse) seed() uint64     { return binary.LittleEndian.Uint64(f.trailer[:]) }
func (f fuse) layout() uint64   { return binary.LittleEndian.Uint64(f.trailer[8:]) }
func (f fuse) segments() uint64 { return f.layout() & (1<<32 - 1) }
func (f fuse) log() uint64      { return f.layout() >> 32 & 0xff }
func (f fuse) end() uint64      { return f.layout() >> 40 }

// cell8 returns cell i of 8 bits. REQUIRES, as the others: the payload has it.
func (f fuse) cell8(i uint64) byte { return *(*byte)(unsafe.Add(f.payload, i)) }

// cell12 returns cell i of 12 bits, in the lowest ones.
func (f fuse) cell12(i uint64) uint16 { return f.load(i+i/2) >> (i & 1 * 4) }

func (f fuse) cell16(i uint64) uint16 { return f.load(2 * i) }

func (f fuse) load(offset uint64) uint16 {
	return binary.LittleEndian.Uint16((*[2]byte)(unsafe.Add(f.payload, offset))[:])
}

package policy

import (
	"encoding/binary"
	"unsafe"
)

// MayContain reports whether key may have been added to filter. It answers as the function [MayContain].
//
// All but the hash is one function, since each call is in the way of the next key.
func (*BinaryFuse) MayContain(filter, key []byte) bool {
	if len(filter) < 2 || filter[len(filter)-1] != binaryFuseByte {
		return MayContain(filter, key)
	}
	if len(filter) < fuseTrailer {
		return true
	}
	h := keyHash(key) // first, since what is computed before would have to be kept somewhere during the call
	f := fuseOf(filter)
	g := f.geometry()
	if !g.valid() {
		return true
	}
	x := fuseMix(h, f.seed())
	c0, c1, c2 := g.places().of(x)
	size := uint64(len(filter) - fuseTrailer)
	switch f.end() {
	case fuseEnd | 8:
		return size != g.cells() || f.cell8(c0)^f.cell8(c1)^f.cell8(c2) == byte(x^x>>32)
	case fuseEnd | 12:
		return size != g.cells()/2*3 || (f.cell12(c0)^f.cell12(c1)^f.cell12(c2)^uint16(x^x>>32))<<4 == 0
	case fuseEnd | 16:
		return size != g.cells()*2 || f.cell16(c0)^f.cell16(c1)^f.cell16(c2) == uint16(x^x>>32)
	}
	return true
}

// fuseMayContainMany reads a filter whose last byte is binaryFuseByte. Keys are hashed some at a time, so that the lookups after
// that wait for memory together.
func fuseMayContainMany(filter []byte, keys [][]byte, out []bool) {
	out = out[:len(keys)]
	if len(filter) < fuseTrailer {
		allMayBeThere(out)
		return
	}
	f := fuseOf(filter)
	g := f.geometry()
	size := uint64(len(filter) - fuseTrailer)
	width := f.end() ^ fuseEnd
	if !g.valid() || width != 8 && width != 12 && width != 16 || size != g.cells()*width/8 {
		allMayBeThere(out)
		return
	}
	places := g.places()
	var mixed [hashGroup]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(mixed))
		for i, key := range keys[:n] {
			mixed[i] = fuseMix(keyHash(key), f.seed())
		}
		for i, x := range mixed[:n] {
			c0, c1, c2 := places.of(x)
			switch width {
			case 8:
				out[i] = f.cell8(c0)^f.cell8(c1)^f.cell8(c2) == byte(x^x>>32)
			case 12:
				out[i] = (f.cell12(c0)^f.cell12(c1)^f.cell12(c2)^uint16(x^x>>32))<<4 == 0
			case 16:
				out[i] = f.cell16(c0)^f.cell16(c1)^f.cell16(c2) == uint16(x^x>>32)
			}
		}
		keys, out = keys[n:], out[n:]
	}
}

// fuseMix makes of a key's hash and a seed the number that says the key's cells and its fingerprint. It is the finalizer of
// MurmurHash3, a bijection: different hashes stay different.
func fuseMix(h, seed uint64) uint64 {
	h += seed
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A fuseFilter is a filter of fuseTrailer bytes or more. It is read without the checks of a slice, which would be a considerable
// part of a lookup.
type fuseFilter struct {
	payload unsafe.Pointer
	trailer *[fuseTrailer]byte
}

func fuseOf(filter []byte) fuseFilter {
	return fuseFilter{unsafe.Pointer(unsafe.SliceData(filter)), (*[fuseTrailer]byte)(filter[len(filter)-fuseTrailer:])}
}

func (f fuseFilter) seed() uint64   { return binary.LittleEndian.Uint64(f.trailer[:]) }
func (f fuseFilter) layout() uint64 { return binary.LittleEndian.Uint64(f.trailer[8:]) }

func (f fuseFilter) geometry() fuseGeometry {
	return fuseGeometry{uint32(f.layout()), uint8(f.layout() >> 32)}
}

// end returns the last 3 bytes: the number of bits per cell, the version, the encoding.
func (f fuseFilter) end() uint64 { return f.layout() >> 40 }

// fuseEnd is what end returns, but for the number of bits.
const fuseEnd = fuseVersion<<8 | binaryFuseByte<<16

// cell8 returns a cell of 8 bits. REQUIRES, as the others: the payload has as many cells as the geometry says, of so many bits, and
// so this one.
func (f fuseFilter) cell8(c uint64) byte { return *(*byte)(unsafe.Add(f.payload, c)) }

// cell12 returns a cell of 12 bits, and 4 of the next one above them if there is one in the same bytes.
func (f fuseFilter) cell12(c uint64) uint16 { return f.load(c+c/2) >> (c % 2 * 4) }

func (f fuseFilter) cell16(c uint64) uint16 { return f.load(2 * c) }

func (f fuseFilter) load(offset uint64) uint16 {
	return binary.LittleEndian.Uint16((*[2]byte)(unsafe.Add(f.payload, offset))[:])
}

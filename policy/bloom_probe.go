package policy

import (
	"math/bits"
	"unsafe"
)

// probeDelta returns the distance between two probes: the hash rotated right by 17 bits.
func probeDelta(h uint32) uint32 {
	return bits.RotateLeft32(h, -17)
}

// setProbe sets the bit of probe h. m is the modulus of len(array).
func setProbe(array []byte, m modulus, h uint32) {
	array[m.byteOf(h)] |= bits.RotateLeft8(1, int(h)) // bit h%8
}

// MayContain reports whether key may have been added to filter. It is the function [MayContain].
func (*Bloom) MayContain(filter, key []byte) bool {
	// This is one function: a call limits how many lookups overlap (BenchmarkMayContain).
	if len(filter) < 2 {
		return false
	}
	k := filter[len(filter)-1]
	if k > maxProbes {
		return mayContainOurs(filter, key)
	}
	array := newBitArray(filter) // its division overlaps the hash
	h := hashTail(hashWords(hashStart(key), key), key)
	delta := probeDelta(h)
	if k < 5 {
		for range k {
			if array.at(h)&1 == 0 {
				return false
			}
			h += delta
		}
		return true
	}
	// The answer is the AND of k bits, so their order is free. Four probes are tested together:
	// tested one by one, every second branch of an absent key is a coin toss, and a wrong
	// prediction costs more than all the probes. Together they find 15 of 16 absent keys if half of
	// the bits are set, so the one branch is nearly always predicted right. Probe 2 waits: it takes
	// only about 2^17 values, so in a large filter it is nearly always set.
	if array.at(h)&array.at(h+delta)&array.at(h+3*delta)&array.at(h+4*delta)&1 == 0 {
		return false
	}
	rest := array.at(h + 2*delta)
	for h += 5 * delta; k > 5; k-- {
		rest &= array.at(h)
		h += delta
	}
	return rest&1 != 0
}

// A bitArray is the bits of a filter, for reading.
type bitArray struct {
	first unsafe.Pointer // to the first byte
	modulus
}

// newBitArray returns the bits of a filter of 2 bytes or more: all but its last byte.
func newBitArray(filter []byte) bitArray {
	return bitArray{unsafe.Pointer(unsafe.SliceData(filter)), newModulus(len(filter) - 1)}
}

// at returns the byte of probe h, rotated so that its lowest bit is the bit of the probe; the other
// bits mean nothing.
//
// byteOf is below the number of bytes for every h, but the compiler does not see that: to index a
// slice would add a check to every probe.
func (a bitArray) at(h uint32) byte {
	return bits.RotateLeft8(*(*byte)(unsafe.Add(a.first, a.byteOf(h))), -int(h))
}

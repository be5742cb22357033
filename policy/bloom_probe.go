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

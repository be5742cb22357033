package policy

import "math"

const (
	lanes  = 16 // hashes or probes that the assembly handles at once, where there is any
	maxRow = 64 // bytes of the longest key that it hashes
)

// laneModulus returns a modulus as the assembly takes it: the same number of bytes, at most 2^29, and another reciprocal.
func (m modulus) laneModulus() (bytes, reciprocal uint32) {
	return uint32(m.bytes), math.MaxUint32 / uint32(m.bytes)
}

// keyRows are keys to be hashed together: all but those longer than maxRow, whose lengths are maxRow+1.
type keyRows struct {
	rows    [lanes]keyRow
	lengths [lanes]uint32
}

// A keyRow begins with a key. 0s fill up the key's last word; what follows means nothing.
type keyRow [maxRow]byte

// Each of these copies keys of some lengths, without a loop whose end would be guessed wrong: two parts that may
// overlap, after the 0s. They are small enough that the compiler inlines
// them, as builders need.

func (r *keyRow) put0to7(key []byte) {
	*(*[8]byte)(r[:]) = [8]byte{}
	for i, b := range key {
		r[i%8] = b
	}
}

func (r *keyRow) put8to16(key []byte) {
	*(*[8]byte)(r[8:]) = [8]byte{}
	*(*[8]byte)(r[:]) = [8]byte(key)
	*(*[8]byte)(r[len(key)-8:]) = [8]byte(key[len(key)-8:])
}

func (r *keyRow) put17to32(key []byte) {
	*(*[16]byte)(r[16:]) = [16]byte{}
	*(*[16]byte)(r[:]) = [16]byte(key)
	*(*[16]byte)(r[len(key)-16:]) = [16]byte(key[len(key)-16:])
}

func (r *keyRow) put33to64(key []byte) {
	*(*[32]byte)(r[32:]) = [32]byte{}
	*(*[16]byte)(r[:]) = [16]byte(key)
	*(*[16]byte)(r[16:]) = [16]byte(key[16:])
	*(*[16]byte)(r[len(key)-32:]) = [16]byte(key[len(key)-32:])
	*(*[16]byte)(r[len(key)-16:]) = [16]byte(key[len(key)-16:])
}

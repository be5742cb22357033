//go:build amd64 && !purego

package bloom

import "math"

// The files named avx512 are all that knows of AVX-512. The two functions that the rest of the
// package calls, newHashBuilder and setProbes, choose between the assembly and plain Go.

// UseAVX512 says that this processor has what the assembly needs. Only tests change it.
var UseAVX512 = haveAVX512()

const (
	lanes  = 16 // keys or probes that the assembly handles at once
	maxRow = 64 // bytes of the longest key that it hashes
)

// newHashBuilder returns the fastest builder of this processor.
func newHashBuilder(s *Setting) hashBuilder {
	if UseAVX512 {
		return &avx512Builder{plainBuilder: newPlainBuilder(s)}
	}
	b := newPlainBuilder(s)
	return &b
}

// setProbes sets the k bits of every key of the given hashes. m is the modulus of len(array).
// REQUIRES: k > 0.
func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	if groups := len(hashes) / lanes; UseAVX512 && groups > 0 {
		bytes, reciprocal := m.avx512()
		avx512Set(&array[0], bytes, reciprocal, &hashes[0], groups, k)
		hashes = hashes[groups*lanes:]
	}
	setProbesPlain(array, m, hashes, k)
}

// avx512 returns a modulus as the assembly takes it: the same number of bytes, at most 2^29, and
// another reciprocal.
func (m modulus) avx512() (bytes, reciprocal uint32) {
	return uint32(m.bytes), math.MaxUint32 / uint32(m.bytes)
}

// haveAVX512 asks for AVX-512 with bytes and short registers (F, DQ, BW, VL), BMI2 and POPCNT, and
// for an operating system that saves the registers. It asks for VBMI2 too, which nothing here
// uses: the processors before it slow down all that they do when they see 512-bit registers.
func haveAVX512() bool {
	if highest, _, _, _ := cpuid(0, 0); highest < 7 {
		return false
	}
	const popcnt, osxsave = 1 << 23, 1 << 27
	if _, _, c, _ := cpuid(1, 0); c&popcnt == 0 || c&osxsave == 0 {
		return false
	}
	const registers = 1<<1 | 1<<2 | 1<<5 | 1<<6 | 1<<7 // X, Y, K, Z0-Z15, Z16-Z31
	if xgetbv()&registers != registers {
		return false
	}
	const bmi2, avx512f, avx512dq = 1 << 8, 1 << 16, 1 << 17
	const avx512bw, avx512vl = 1 << 30, 1 << 31
	const all = bmi2 | avx512f | avx512dq | avx512bw | avx512vl
	const vbmi2 = 1 << 6
	_, b, c, _ := cpuid(7, 0)
	return b&all == all && c&vbmi2 != 0
}

// avx512Set sets the k bits of groups*16 hashes. array points to the bit array; bytes and
// reciprocal are those of modulus.avx512. REQUIRES: groups > 0, k > 0.
//
//go:noescape
func avx512Set(array *byte, bytes, reciprocal uint32, hashes *uint32, groups, k int)

// avx512HashRows sets the hashes of the keys that lie in their rows, and no others.
//
//go:noescape
func avx512HashRows(hashes *[lanes]uint32, rows *keyRows)

func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// xgetbv returns the low half of the register XCR0.
func xgetbv() uint32

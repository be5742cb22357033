//go:build amd64 && !purego

package bloom

import "math"

// The files named avx512 are all that knows of AVX-512. The four functions that the rest of the
// package calls choose between the assembly and plain Go (builder.go and loops_plain.go):
// newHashBuilder, hashKeys, setProbes and testProbes.

// UseAVX512 says that this processor has what the assembly needs. Only tests change it.
var UseAVX512 = haveAVX512()

const (
	lanes  = 16 // hashes or probes that the assembly handles at once
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

// hashKeys hashes every key, as Hash does. REQUIRES: len(hashes) >= len(keys).
func hashKeys(hashes []uint32, keys [][]byte) {
	if groups := len(keys) / lanes; UseAVX512 && groups > 0 {
		n := groups * lanes
		if !avx512HashKeys(&hashes[0], &keys[0], groups) {
			for i, key := range keys[:n] {
				if len(key) > maxRow {
					hashes[i] = Hash(key)
				}
			}
		}
		hashes, keys = hashes[n:], keys[n:]
	}
	hashKeysPlain(hashes, keys)
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

// testProbes sets out[i] to whether all k probes of hashes[i] are set, for i < n, and returns how
// often they are. mostlyFound predicts that most are; it changes only the time that this takes.
// REQUIRES: k >= 5, len(out) >= n.
func testProbes(
	a Bits, hashes *[hashGroup]uint32, n, k int, mostlyFound bool, out []bool,
) (found int) {
	if !UseAVX512 || n < lanes {
		return testProbesPlain(a, hashes[:n], k, mostlyFound, out)
	}
	bytes, reciprocal := a.avx512()
	out = out[:n]
	clear(out)
	places := ascending // of the hashes that are left
	step := 2           // two probes of every key, two more of those that pass, and so on
	if mostlyFound {
		step = k
	}
	for from := 0; from < k && n > 0; from += step {
		to := min(from+step, k)
		n = avx512Test((*byte)(a.first), bytes, reciprocal, &hashes[0], &places[0], n, from, to)
	}
	for _, i := range places[:n] {
		out[i] = true
	}
	return n
}

// ascending has the numbers from 0.
var ascending = func() (a [hashGroup]uint32) {
	for i := range a {
		a[i] = uint32(i)
	}
	return a
}()

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

// avx512Test takes the first n hashes and their places, 4 bytes each. It moves those of which the
// probes from to to-1 are all set to the front, in order, and returns their number. What it leaves
// after them means nothing. REQUIRES: 0 < n <= 128, from < to, and room for a multiple of 16 hashes
// and places.
//
//go:noescape
func avx512Test(
	array *byte, bytes, reciprocal uint32, hashes, places *uint32, n, from, to int,
) (passed int)

// avx512HashRows sets the hashes of the keys that lie in their rows, and no others.
//
//go:noescape
func avx512HashRows(hashes *[lanes]uint32, rows *keyRows)

// avx512HashKeys sets the hashes of those of groups*16 keys that are at most maxRow bytes long, and
// no others. all reports whether it set every hash. REQUIRES: groups > 0.
//
//go:noescape
func avx512HashKeys(hashes *uint32, keys *[]byte, groups int) (all bool)

func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// xgetbv returns the low half of the register XCR0.
func xgetbv() uint32

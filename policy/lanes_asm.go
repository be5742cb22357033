//go:build amd64 && !purego

package policy

// useLanes says that this processor has what the assembly needs: AVX-512 with bytes and short registers (F, DQ, BW, VL),
// BMI2 and POPCNT, and an operating system that keeps the registers. It asks for VBMI2 too, which nothing here uses: the
// processors before it slow down all that they do when they see 512-bit registers. Only tests change it.
var useLanes = haveLanes()

func haveLanes() bool {
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
	const bmi2, avx512f, avx512dq, avx512bw, avx512vl = 1 << 8, 1 << 16, 1 << 17, 1 << 30, 1 << 31
	const all = bmi2 | avx512f | avx512dq | avx512bw | avx512vl
	const vbmi2 = 1 << 6
	_, b, c, _ := cpuid(7, 0)
	return b&all == all && c&vbmi2 != 0
}

// setLanes sets the k bits of groups*16 hashes. array points to the bit array, bytes and reciprocal are those of
// laneModulus. REQUIRES: groups > 0, k > 0.
//
//go:noescape
func setLanes(array *byte, bytes, reciprocal uint32, hashes *uint32, groups, k int)

// testLanes moves those of the first n hashes of which the probes from to to-1 are all set to the front, in order, and does
// the same with their places, 4 bytes each. It returns how many they are. Beyond them it leaves anything.
// REQUIRES: 0 < n <= 128, from < to, and room for 16 hashes and places at a time.
//
//go:noescape
func testLanes(array *byte, bytes, reciprocal uint32, hashes, places *uint32, n, from, to int) (passed int)

// hashKeyRows sets the hashes of the keys that lie in their rows, and no others.
//
//go:noescape
func hashKeyRows(hashes *[lanes]uint32, rows *keyRows)

// hashLanes sets the hashes of those of groups*16 keys that are not longer than maxRow, and no others. REQUIRES: groups > 0.
//
//go:noescape
func hashLanes(hashes *uint32, keys *[]byte, groups int) (all bool)

func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// xgetbv returns the low half of the register XCR0.
func xgetbv() uint32

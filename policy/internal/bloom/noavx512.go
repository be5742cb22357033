//go:build !amd64 || purego

package bloom

// The functions of avx512.go where there is no assembly.

// UseAVX512 stays false here.
var UseAVX512 bool

func newHashBuilder(s *Setting) hashBuilder {
	b := newPlainBuilder(s)
	return &b
}

func hashKeys(hashes []uint32, keys [][]byte) { hashKeysPlain(hashes, keys) }

func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	setProbesPlain(array, m, hashes, k)
}

func testProbes(
	a Bits, hashes *[hashGroup]uint32, n, k int, mostlyFound bool, out []bool,
) (found int) {
	return testProbesPlain(a, hashes[:n], k, mostlyFound, out)
}

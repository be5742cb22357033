//go:build !amd64 || purego

package policy

// The functions of bloom_avx512.go where there is no assembly.

func newBloomBuilder(b *Bloom) bloomFiller {
	builder := makeBloomBuilder(b)
	return &builder
}

func hashKeys(hashes []uint32, keys [][]byte) { hashKeysPlain(hashes, keys) }

func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	setProbesPlain(array, m, hashes, k)
}

func testProbes(
	a bitArray, hashes *[hashGroup]uint32, n, k int, mostlyFound bool, out []bool,
) (found int) {
	return testProbesPlain(a, hashes[:n], k, mostlyFound, out)
}

//go:build !amd64 || purego

package bloom

// The functions of avx512.go where there is no assembly.

// UseAVX512 stays false here.
var UseAVX512 bool

func newHashBuilder(s *Setting) hashBuilder {
	b := newPlainBuilder(s)
	return &b
}

func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	setProbesPlain(array, m, hashes, k)
}

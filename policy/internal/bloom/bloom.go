// Package bloom builds and reads LevelDB's Bloom filters. It knows keys, hashes and bytes, and no
// policy. FORMAT.md, two directories above, specifies the format.
//
// hash.go is LevelDB's hash, modulus.go and probe.go find the bits of a key, size.go chooses the
// size of a filter and k, and builder.go builds it.
package bloom

// MaxProbes is the largest k. A larger last byte belongs to another encoding.
const MaxProbes = 30

// HasAll reports whether a filter of 2 bytes or more is of this encoding and has all probes of all
// hashes.
func HasAll(filter []byte, hashes []uint32) bool {
	k := int(filter[len(filter)-1])
	if k > MaxProbes {
		return false
	}
	bits := NewBits(filter)
	for _, h := range hashes {
		delta := Delta(h)
		for range k {
			if bits.Probe(h)&1 == 0 {
				return false
			}
			h += delta
		}
	}
	return true
}

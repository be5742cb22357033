// Package bloom builds and reads LevelDB's Bloom filters. It knows keys, hashes and bytes, and no
// policy. FORMAT.md, two directories above, has the format.
//
// hash.go has LevelDB's hash, modulus.go and probe.go the bits of a key, builder.go the builder.
// tuning.go, search.go and neighbors.go choose the size and k of tuned filters.
package bloom

import (
	"encoding/binary"
	"math/bits"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// MaxProbes is the largest k. A larger last byte belongs to another encoding.
const MaxProbes = 30

// A Setting is what a writer chooses.
type Setting struct {
	BitsPerKey float64
	Tuning     float64 // the part by which a tuned filter may exceed Size; 0 for no tuning
	Verify     bool    // whether builders verify what they built
}

// K returns the number of probes per key. 0.69 is nearly ln 2, the optimum; LevelDB rounds down to
// save probes. 0 bits per key are defined too: 64 bits and k = 1 for any number of keys.
func (s *Setting) K() int { return int(min(max(s.BitsPerKey*0.69, 1), MaxProbes)) }

// Size returns the size in bytes of a filter of n keys. It panics if n is negative.
func (s *Setting) Size(n int) uint64 { return max(8, builder.Bytes(n, s.BitsPerKey)) + 1 }

// AppendEmpty appends the filter of no keys to dst.
func (s *Setting) AppendEmpty(dst []byte) []byte {
	dst, _ = s.extend(dst, 0)
	return dst
}

// extend appends a filter of n keys without their bits to dst. It returns the extended slice and
// the filter in it.
func (s *Setting) extend(dst []byte, n int) (extended, filter []byte) {
	extended, filter = builder.Extend(dst, s.Size(n))
	filter[len(filter)-1] = byte(s.K())
	return extended, filter
}

// set sets the probes of some hashes. The filter has its k.
func set(filter []byte, hashes []uint32) {
	last := len(filter) - 1
	setProbes(filter[:last], newModulus(last), hashes, int(filter[last]))
}

// HasAll reports whether a filter of 2 bytes or more is of this encoding and has all probes of all
// hashes.
func HasAll(filter []byte, hashes []uint32) bool {
	k := int(filter[len(filter)-1])
	return k <= MaxProbes && countFound(NewBits(filter), k, hashes, len(hashes)) == len(hashes)
}

// Probes appends the bits that a lookup of key reads, in an array of nbits with k probes, to dst.
func Probes(dst []uint64, nbits uint64, k int, key []byte) []uint64 {
	h := Hash(key)
	delta := Delta(h)
	for range k {
		dst = append(dst, uint64(h)%nbits)
		h += delta
	}
	return dst
}

// Ones returns how many bits are set.
func Ones(array []byte) (n int) {
	for ; len(array) >= 8; array = array[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(array))
	}
	for _, b := range array {
		n += bits.OnesCount8(b)
	}
	return n
}

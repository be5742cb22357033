// Package bloom builds and reads LevelDB's Bloom filters. It knows keys, hashes and bytes, and no
// policy. FORMAT.md, two directories above, specifies the format.
//
// hash.go is LevelDB's hash, modulus.go and probe.go find the bits of a key, size.go chooses the
// size of a filter and k, builder.go builds it, and fpp.go computes its rate of false positives.
package bloom

// MaxProbes is the largest k. A larger last byte belongs to another encoding.
const MaxProbes = 30

package policy

import "github.com/zeebo/xxh3"

// keyHash is the hash of our own encoding: XXH3 with 64 bits and seed 0. (LevelDB's is [Hash].)
//
// XXH3 is well tested and zeebo/xxh3 is widely used; it returns the same on all platforms, and
// depends only on a library that finds the processor's features.
func keyHash(key []byte) uint64 { return xxh3.Hash(key) }

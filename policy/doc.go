// Package policy makes and reads LevelDB's Bloom filters, byte for byte as C++ LevelDB does.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key that was added to
// it, always; for other keys it answers "absent", except for a small share of false positives. A lookup that the filter
// answers "absent" reads no data.
//
// A [Policy] makes and reads filters; [NewBloom] is the one that C++ LevelDB calls NewBloomFilterPolicy. Reading needs
// no setting: [MayContain] reads the filters of every policy in this package, whatever its bits per key, and
// [MayContainMany] asks one about many keys at once.
//
// # The filter, byte for byte
//
// For n keys (each added key counts, duplicates too), all sizes in 64-bit arithmetic:
//
//	bits   = max(64, ceil(n * bitsPerKey)), rounded up to a multiple of 8
//	bytes  = bits / 8
//	k      = floor(bitsPerKey * 0.69), at least 1, at most 30
//	filter = `bytes` bytes of bits, then one byte: k
//
// Bit p of the filter is bit p%8 (bit 0 is the least significant one) of byte p/8. A key sets k bits, its probes:
//
//	h     = Hash(key)
//	delta = h rotated right by 17 bits
//	k times: set bit h % bits; h = h + delta (mod 2^32)
//
// [Hash] is LevelDB's: all arithmetic mod 2^32, little-endian words, bytes unsigned.
//
//	h = 0xbc9f1d34 xor len(key)*0xc6a4a793
//	for each 4 bytes w of the key:         h = (h + w) * 0xc6a4a793;  h = h xor h>>16
//	for the 1 to 3 bytes that are left:    h = (h + b[2]<<16 + b[1]<<8 + b[0]) * 0xc6a4a793;  h = h xor h>>24
//
// Reading takes k from the filter's last byte, never from a setting. A key may be in the filter if all of its k probes
// are set. Odd filters are answered as C++ LevelDB answers them:
//
//	shorter than 2 bytes       never matches
//	k = 0                      always matches (no probe says no)
//	k > 30                     always matches: the range that LevelDB reserved for new encodings
//
// # A worked example
//
// One key, "hello", at 10 bits per key: n*10 = 10 bits are raised to the minimum of 64, so 8 bytes; k = floor(6.9) = 6.
//
//	h = 0xf795964e, delta = 0xcb277bca
//	probes: bits 14, 24, 34, 44, 54, 0
//	filter: 01 40 00 01 04 10 40 00 06
//
// Bit 14 is bit 6 of byte 1, hence 0x40 there; the last byte is k.
//
// The format's sources are LevelDB's util/bloom.cc and util/hash.cc; the probes are the double hashing of Kirsch and
// Mitzenmacher, "Less Hashing, Same Performance" (2006).
package policy

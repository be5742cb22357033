// Package policy makes and reads LevelDB's Bloom filters, byte for byte as C++ LevelDB does.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key that was added to
// it, always; for other keys it answers "absent", except for a small share of false positives. A lookup that the filter
// answers "absent" reads no data.
//
// A [Policy] makes and reads filters; [NewBloom] is the one that C++ LevelDB calls NewBloomFilterPolicy. [NewBlockedBloom]
// makes filters of an encoding of our own, which have fewer false positives for many real keys and are read faster, and to
// which other readers answer "may contain". Reading needs no setting: [MayContain] and all policies read the filters of every
// policy in this package, whatever its bits per key, so one database may hold all kinds, and [MayContainMany] asks one about
// many keys at once.
//
// # LevelDB's filter, byte for byte
//
// For n keys (each added key counts, duplicates too), all sizes in 64-bit arithmetic:
//
//	bits   = max(64, ceil(n * bitsPerKey)), rounded up to a multiple of 8
//	bytes  = bits / 8
//	k      = floor(bitsPerKey * 0.69), at least 1, at most 30
//	filter = `bytes` bytes of bits, then one byte: k
//
// n * bitsPerKey is exact if bitsPerKey is a whole number; otherwise it is the product of two IEEE 754 doubles, rounded to
// the nearest one.
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
// # The reserved range
//
// A last byte above 30 is no k: LevelDB reserved these for new encodings, and every reader answers "may contain" to one that
// it does not know. Ours are below 128, and have one frame:
//
//	filter = payload, parameters, version (1 byte), encoding (1 byte)
//
//	encoding 0x42    blocked Bloom
//
// A filter with an encoding or a version that a reader does not know may contain every key, and so may one whose length does
// not fit. A filter shorter than 2 bytes never matches, as above, whatever its byte. H(key) is the key's hash by XXH3, 64 bits,
// seed 0 (Collet, "xxHash fast digest algorithm", XXH3_64bits).
//
// # Blocked Bloom, byte for byte
//
// Encoding 0x42, version 1. For n keys (each added key counts, duplicates too), sizes and n * bitsPerKey as above:
//
//	bytes   = max(1, ceil(ceil(n * bitsPerKey) / 8))
//	          if that is more than 1280: rounded up to a multiple of 64
//	k       = from bitsPerKey, by the table below
//	filter  = `bytes` bytes of bits (the payload), then three bytes: k, 0x01, 0x42
//
//	bitsPerKey from   0  2.5    4  5.5  7.5    9   11   13  15.5   18  20.5  23.5   27  30.5   35   40
//	k                 1    2    3    4    5    6    7    8     9   10    11    12   13    14   15   16
//
// A key's bits lie in its line. A payload of up to 1280 bytes is one line. A longer one has bytes/64 lines of 64 bytes, and a
// key's is, counted from 0, the one that the high half of its hash says:
//
//	floor((H >> 32) * (bytes / 64) / 2^32)
//
// With bits = 8 * the bytes of the line (512 in a longer payload), the key sets k bits of its line, its probes:
//
//	x = H mod 2^32
//	k times: set bit floor(x * bits / 2^32); x = x * 0x9e3779b9 (mod 2^32)
//
// Bit p of a line is bit p%8 (bit 0 is the least significant one) of its byte p/8. Reading takes k from the filter, and its
// bytes from the filter's length. A key may be in the filter if all of its k probes are set; k may be any byte, and with 0
// every key may. The lengths that fit: the payload has at least one byte, and if it has more than 1280, a multiple of 64.
//
// A worked example: one key, "hello", at 10 bits per key. 10 bits take 2 bytes, and k = 6.
//
//	H      = 0x9555e8555c62dcfd
//	x      = 0x5c62dcfd, 0x1e4047d5, 0x232a95ed, 0x068e5d45, 0xa6ca03dd, 0x3e4b3fb5
//	probes: bits 5, 1, 2, 0, 10, 3
//	filter: 2f 04 06 01 42
//
// # Sources
//
// LevelDB's format: its util/bloom.cc and util/hash.cc; the probes are the double hashing of Kirsch and Mitzenmacher, "Less
// Hashing, Same Performance" (2006). Blocked Bloom filters: Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
// Bloom Filters" (2007); Lang, Neumann, Kemper and Boncz, "Performance-Optimal Filtering" (2019).
package policy

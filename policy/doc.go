// Package policy makes and reads LevelDB's Bloom filters, byte for byte as C++ LevelDB does.
//
// A storage engine keeps a filter beside each table. The filter answers "may contain" for every key that was added to
// it, always; for other keys it answers "absent", except for a small share of false positives. A lookup that the filter
// answers "absent" reads no data.
//
// A [Policy] makes and reads filters; [NewBloom] is the one that C++ LevelDB calls NewBloomFilterPolicy. [NewBlockedBloom] and
// [NewBinaryFuse] make filters of encodings of our own, which have fewer false positives and are read faster, and to which other
// readers answer "may contain". Reading needs no setting: [MayContain] and all policies read the filters of every
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
//	encoding 0x46    binary fuse
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
// # Binary fuse, byte for byte
//
// Encoding 0x46, version 1. A filter is an array of cells of w bits each. Each key has three cells and a fingerprint, and the
// writer finds contents with which the three cells of every key, combined by exclusive or, are its fingerprint.
//
//	filter = cells, seed (8 bytes), segments (4 bytes), e (1 byte), w (1 byte), then two bytes: 0x01, 0x46
//
// Numbers are little-endian, and no product or sum is cut off but where the text says mod. A segment has S = 2^e cells, and all
// are (segments + 2) * S cells. Cell i is the bits i*w to i*w + w-1 of the filter, the least significant one first, where bit p is
// bit p%8 of byte p/8. For a key with hash H:
//
//	x  = H + seed (mod 2^64)
//	x  = (x xor x>>33) * 0xff51afd7ed558ccd (mod 2^64)
//	x  = (x xor x>>33) * 0xc4ceb9fe1a85ec53 (mod 2^64)
//	x  = x xor x>>33
//	c0 = floor(x * segments * S / 2^64)
//	c1 = (c0 + S) xor (floor(x / 2^18) mod S)
//	c2 = (c0 + 2*S) xor (x mod S)
//	fingerprint = (x xor floor(x / 2^32)) mod 2^w
//
// The key may be in the filter if cell[c0] xor cell[c1] xor cell[c2] = fingerprint. The filters that fit: w is 8, 12 or 16, e is
// 2 to 18, segments is not 0, and the cells take just the bytes that are left of the filter's length.
//
// The writer counts equal hashes once: n is the number of different ones, and n * bitsPerKey is as above. It chooses
//
//	e        = the largest one, from 2 to 18, with 3.33^(e - 2.25) <= n; 2 if there is none
//	capacity = n * max(1.125, 0.875 + 0.25 * ln(1000000) / ln(n)), rounded to the nearest integer, halves up; 0 if n < 2
//	segments = max(3, ceil(capacity / S)) - 2
//	w        = the largest one for which the cells take at most ceil(ceil(n * bitsPerKey) / 8) bytes
//
// It writes a blocked Bloom filter of n keys instead, those with the different hashes (as above, with the same bitsPerKey), if that
// has fewer false positives or nothing else fits:
//
//	if the cells take more bytes even with w = 8, or n > 2^29
//	if its payload has n*b bits or more, where b is        w = 8   w = 12   w = 16
//	                        if it has up to 1280 bytes    11.625    17.75    23.75
//	                        if it has more                 12.25     19.5    28.25
//
// Not every seed suits a set of keys. The writer tries some, of which z is the next one, with all arithmetic mod 2^64:
//
//	state = state + 0x9e3779b97f4a7c15        (at first, state = 1)
//	z     = (state xor state>>30) * 0xbf58476d1ce4e5b9
//	z     = (z xor z>>27) * 0x94d049bb133111eb
//	z     = z xor z>>31
//
// At the second attempt, and every fourth one after it, if n is 5 to 999,999, S is half as large and segments is 2*segments + 2,
// which are as many cells, and the filter's e is less by 1. After 64 attempts it writes a blocked Bloom filter. An attempt fails if
// 64 keys or more share a cell. Otherwise it succeeds if every key gets a cell to itself in this way:
//
//	Push the cells that are cells of one key only onto a stack, in ascending order. Until the stack is empty, pop a cell.
//	If no key is left that has this cell, pop the next one. Otherwise there is one, and the cell is its own; put it on a list.
//	Take the key away from its two other cells, first from the one that follows the popped one in the circle c0, c1, c2, c0,
//	then from the third, and push each of them that is then a cell of one key only.
//
// Then all cells are 0, and for the keys of the list, the last one first, the key's own cell becomes its fingerprint xor the key's
// two other cells.
//
// A worked example: the key "hello" in a filter of 10,000 keys that was made at the first attempt.
//
//	n = 10000, e = 9, S = 512, capacity = 12500, segments = 23, cells = 12800, w = 8 at 10.5 bits per key
//	H = 0x9555e8555c62dcfd, seed = 0x910a2dec89025cc1, x = 0x04ffb62a42784a17
//	c0 = 229, c1 = 635, c2 = 1266, fingerprint = 0x3d
//	the last 16 bytes: c1 5c 02 89 ec 2d 0a 91 17 00 00 00 09 08 01 46
//
// testdata/encodings has whole filters of all encodings, with their keys.
//
// # Sources
//
// LevelDB's format: its util/bloom.cc and util/hash.cc; the probes are the double hashing of Kirsch and Mitzenmacher, "Less
// Hashing, Same Performance" (2006). Blocked Bloom filters: Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
// Bloom Filters" (2007); Lang, Neumann, Kemper and Boncz, "Performance-Optimal Filtering" (2019). Binary fuse filters: Graf and
// Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022), as github.com/FastFilter/xorfilter makes them.
package policy

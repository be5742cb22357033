package keys

import (
	"encoding/binary"
	"math/bits"
)

// Real lists the shapes of programs, each with the density that it has there. In brackets: which
// keys are absent.
var Real = []Shape{
	// go-ethereum's snapshot: "a" and the hash of an account's address (accounts that do not
	// exist).
	{"geth-account", true, gethAccount, Anywhere, 0},
	// go-ethereum's snapshot: "o", the hashes of an account and of a slot (slots never written).
	// Here an account has 64 slots.
	{"geth-storage", true, gethStorage, Anywhere, 0},
	// go-ethereum's state trie by path: "A" and the path, a byte for each of its hexadecimal
	// digits. N accounts have 63 % of the paths of log16(N) digits (paths that end before).
	{"geth-trie", false, gethTrie, fillRandom, 0},
	// go-ethereum's headers: "h", the block's number, its hash (other hashes of the same numbers).
	{"geth-header", false, gethHeader, alternating, 0},
	// go-ethereum's hashes by number: "h", the number, "n"; all are there (blocks still to come).
	{"geth-number", false, gethNumber, beyond, 0},
	// Nodes of Cosmos SDK's IAVL trees: the store's prefix, "n", version, nonce. Most nodes of old
	// versions are pruned (pruned nodes).
	{"iavl", false, iavl, Densities[2], 0},
	// CockroachDB's MVCC keys: table 104, index 1, a whole number as the primary key, column family
	// 0, the time of a version. Rows have three versions. In Pebble v2, CockroachDB's Split leaves
	// the time out of the filters (rows that were deleted).
	{"cockroach", false, cockroach, rowsWithVersions, 10},
	// Time series: the number of a series and milliseconds. Samples are 15 s apart (times between).
	{"timeseries", false, timeSeries, alternating, 0},
	// UUIDs of version 7, RFC 9562, four in each millisecond (others of the same milliseconds).
	{"uuid7", true, uuid7, alternating, 0},
	// Order-preserving tuples of FoundationDB: a string and two whole numbers (deleted rows).
	{"tuple", false, tuple, fillRandom, 0},
}

// All lists the shapes of this package: Shapes and Real.
var All = append(append([]Shape{}, Shapes...), Real...)

var rowsWithVersions = func() Density {
	rows := atRandom("63% of the rows", 0.63, "63 % of a range of rows is present, all versions of "+
		"each; absent rows lie between")
	row := rows.isPresent
	rows.isPresent = func(seed, index uint64) bool { return row(seed, index/Versions) }
	return rows
}()

// appendHash appends the 32 bytes of a hash.
func appendHash(dst []byte, seed, index uint64) []byte {
	return appendRandom(appendRandom(dst, seed, index), seed+1<<32, index)
}

func gethAccount(dst []byte, seed, index uint64) []byte {
	return appendHash(append(dst, 'a'), seed, index)
}

func gethStorage(dst []byte, seed, index uint64) []byte {
	return appendHash(appendHash(append(dst, 'o'), seed, index/64), seed, index)
}

// gethTrie numbers the paths by length: the root, 16 paths of one digit, 256 of two, and so on.
func gethTrie(dst []byte, _, index uint64) []byte {
	digits, count := 0, uint64(1)
	for ; index >= count; digits++ {
		index -= count
		count *= 16
	}
	dst = append(dst, 'A')
	for ; digits > 0; digits-- {
		dst = append(dst, byte(index>>(4*(digits-1))&15))
	}
	return dst
}

func gethHeader(dst []byte, _, index uint64) []byte {
	return appendHash(bigEndian(append(dst, 'h'), 0, index/2), 0, index)
}

func gethNumber(dst []byte, _, index uint64) []byte {
	return append(bigEndian(append(dst, 'h'), 0, index), 'n')
}

// iavl has 32 nodes in each version.
func iavl(dst []byte, _, index uint64) []byte {
	dst = bigEndian(append(dst, "s/k:bank/n"...), 0, index/32)
	return binary.BigEndian.AppendUint32(dst, uint32(index%32)+1)
}

// cockroach encodes keys as CockroachDB's util/encoding and Pebble's package cockroachkvs do. The
// suffix is the sentinel's 0, the nanoseconds and the length.
func cockroach(dst []byte, _, index uint64) []byte {
	row, version := index/Versions, index%Versions
	dst = append(dst, 136+104, 136+1)
	if row <= 109 {
		dst = append(dst, 136+byte(row))
	} else {
		dst = shortest(dst, 136+109, row)
	}
	return append(bigEndian(append(dst, 136, 0), 0, 1.7e18+version*1e9), 9)
}

func timeSeries(dst []byte, _, index uint64) []byte {
	const samples = 1 << 14 // of a series, and as many times between them
	return bigEndian(bigEndian(dst, 0, index/samples), 0, 1.7e12+index%samples*7500)
}

func uuid7(dst []byte, seed, index uint64) []byte {
	start := len(dst)
	dst = bigEndian(dst, 0, (1.7e12+index/8)<<16)[:start+6]
	dst = appendRandom(dst, seed, index)[:start+16]
	dst[start+6], dst[start+8] = dst[start+6]&0x0f|0x70, dst[start+8]&0x3f|0x80
	return dst
}

func tuple(dst []byte, _, index uint64) []byte {
	dst = shortest(append(dst, "\x02orders\x00"...), 0x14, index/1000)
	return shortest(dst, 0x14, index%1000)
}

// shortest appends n in as few big-endian bytes as possible, behind their number plus zero.
func shortest(dst []byte, zero byte, n uint64) []byte {
	size := (bits.Len64(n) + 7) / 8
	dst = append(dst, zero+byte(size))
	for ; size > 0; size-- {
		dst = append(dst, byte(n>>(8*(size-1))))
	}
	return dst
}

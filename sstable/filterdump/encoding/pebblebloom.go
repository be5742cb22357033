package encoding

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// PebbleBloom reads Pebble's own Bloom filters, which are RocksDB's full filters of before its format_version 5. Both store
// them under the name rocksdb.BuiltinBloomFilter.
//
//	lines    64 bytes each: the probes of a key all lie in one, so that a lookup waits for memory once
//	k        1 byte
//	number   of lines, 4 bytes, little-endian
//
//	h = hash of the key; its line is number h % lines
//	k times: bit h % 512 of the line; h += hash rotated right by 17 bits
//
// The hash is LevelDB's, but for one thing: the 1 to 3 bytes behind the last whole word count as signed.
//
// A filter of 5 bytes or less has no keys and answers "absent", as in Pebble and RocksDB. What else is not made like this
// may contain every key: the rest of the bytes is not a whole number of lines of one size, a power of two and at least 64;
// or k is 0; or k is above 127, which RocksDB sets aside for its newer filters (255 for its newer Bloom).
var PebbleBloom Encoding = pebbleBloom{}

type pebbleBloom struct{}

func (pebbleBloom) String() string { return "Pebble Bloom" }

func (e pebbleBloom) Of([]byte) Encoding { return e }

const (
	pebbleTrailer   = 5
	minLineBytes    = 64 // RocksDB took the processor's lines, which are larger on some
	maxPebbleProbes = 127
)

// pebbleFilter is a filter taken apart. Its numbers have 32 bits, as in Pebble, whose positions wrap at 2^32 bits.
type pebbleFilter struct {
	array    []byte
	k        int
	lines    uint32
	lineBits uint32
}

func parsePebbleFilter(filter []byte) (f pebbleFilter, ok bool) {
	n := len(filter) - pebbleTrailer
	if n <= 0 {
		return f, false
	}
	f = pebbleFilter{array: filter[:n], k: int(filter[n]), lines: binary.LittleEndian.Uint32(filter[n+1:])}
	if f.k == 0 || f.k > maxPebbleProbes || f.lines == 0 || uint64(n)%uint64(f.lines) != 0 || uint64(n) > math.MaxUint32 {
		return f, false
	}
	lineBytes := uint32(n) / f.lines
	f.lineBits = 8 * lineBytes
	return f, minLineBytes <= lineBytes && lineBytes <= math.MaxUint32/8 && bits.OnesCount32(lineBytes) == 1
}

func (pebbleBloom) MayContain(filter, key []byte) bool {
	if len(filter) <= pebbleTrailer {
		return false
	}
	if _, ok := parsePebbleFilter(filter); !ok { // on some of these Pebble divides by zero
		return true
	}
	return bloom.FilterPolicy(0).MayContain(sstable.TableFilter, filter, key) // any number of bits per key reads all filters
}

// Measure estimates Distinct and FPP line by line.
func (pebbleBloom) Measure(filter []byte) (s Stats, ok bool) {
	f, ok := parsePebbleFilter(filter)
	if !ok {
		return Stats{}, false
	}
	return measureLines(f.array, int(f.lineBits/8), f.k), true
}

func (e pebbleBloom) Explain(filter, key []byte) Explanation {
	hash := signedHash(key)
	x := Explanation{Hash: uint64(hash), HashBits: 32, MayContain: e.MayContain(filter, key)}
	f, ok := parsePebbleFilter(filter)
	switch {
	case len(filter) <= pebbleTrailer:
		x.Note = "the filter has no keys"
		return x
	case !ok:
		x.Note = "not a Pebble Bloom filter: it may contain every key"
		return x
	}
	line := hash % f.lines
	x.LineBits = int64(f.lineBits)
	x.Note = fmt.Sprintf("all probes lie in line %d of %d, which has %d bits", line, f.lines, f.lineBits)
	h := hash
	for range f.k {
		bit := line*f.lineBits + h%f.lineBits
		x.Probes = append(x.Probes, Probe{Bit: int64(bit), Set: f.array[bit/8]&(1<<(bit%8)) != 0})
		h += bits.RotateLeft32(hash, -17)
	}
	return x
}

// signedHash is policy.Hash with the bytes behind the last whole word signed, which is what LevelDB's code gave before 1.18
// where C's char is signed. RocksDB and Pebble keep it.
func signedHash(key []byte) uint32 {
	const (
		seed = 0xbc9f1d34
		m    = 0xc6a4a793
	)
	h := seed ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= m
		h ^= h >> 16
	}
	if len(key) > 0 {
		for i, b := range key {
			h += uint32(int8(b)) << (8 * i)
		}
		h *= m
		h ^= h >> 24
	}
	return h
}

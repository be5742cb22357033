package filters

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
)

// BuiltinName is the name of the Bloom filters that Pebble and RocksDB bring along.
const BuiltinName = "rocksdb.BuiltinBloomFilter"

// Builtin reads Pebble's own Bloom filters, which are RocksDB's full filters before format_version
// 5:
//
//	lines    64 bytes each; all probes of a key lie in one line
//	k        1 byte
//	number   of lines, 4 bytes, little-endian
//
// A filter of at most 5 bytes has no keys and answers "absent", as in Pebble and RocksDB. Every
// other malformed filter answers "may contain": a payload that is not a whole number of lines of
// one size (a power of two, at least 64 bytes), k = 0, or k > 127, which RocksDB reserves for newer
// filters.
var Builtin Reader = builtin{}

type builtin struct{}

const (
	builtinTrailer   = 5
	minLineBytes     = 64 // RocksDB used the processor's cache lines, which are larger on some
	maxBuiltinProbes = 127
)

func (builtin) Parse(filter []byte) (string, Info, error) {
	const name = "Pebble Bloom"
	n := len(filter) - builtinTrailer
	if n <= 0 {
		return name, Info{}, errors.New("at most 5 bytes: it matches no key")
	}
	k, lines := int(filter[n]), binary.LittleEndian.Uint32(filter[n+1:])
	malformed := errors.New("not a Pebble Bloom filter: every key may be contained")
	// Bit numbers have 32 bits in Pebble.
	if k == 0 || k > maxBuiltinProbes || lines == 0 || uint64(n)%uint64(lines) != 0 ||
		uint64(n) > math.MaxUint32/8 {
		return name, Info{}, malformed
	}
	lineBytes := uint32(n) / lines
	if lineBytes < minLineBytes || bits.OnesCount32(lineBytes) != 1 {
		return name, Info{}, malformed
	}
	return name, Info{policy.Info{K: k, Payload: filter[:n]}, int(lineBytes)}, nil
}

func (b builtin) MayContain(filter, key []byte) bool {
	if len(filter) <= builtinTrailer {
		return false
	}
	if _, _, err := b.Parse(filter); err != nil { // Pebble divides by zero on some of these
		return true
	}
	// Any number of bits per key reads all filters.
	return bloom.FilterPolicy(0).MayContain(sstable.TableFilter, filter, key)
}

package filters

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
)

// BuiltinName is the name of the Bloom filters that Pebble brings along.
const BuiltinName = "rocksdb.BuiltinBloomFilter"

// Builtin reads Pebble's own Bloom filters:
//
//	lines    64 bytes each; all probes of a key lie in one line
//	k        1 byte
//	number   of lines, 4 bytes, little-endian
//
// A filter of at most 5 bytes has no keys and answers "absent", as in Pebble. Every other malformed
// filter answers "may contain": a payload that does not have the number of lines, or k = 0.
var Builtin Reader = builtin{}

type builtin struct{}

const (
	builtinTrailer = 5
	lineBytes      = 64
)

func (builtin) Parse(filter []byte) (string, policy.Info, error) {
	const name = "Pebble Bloom"
	n := len(filter) - builtinTrailer
	if n <= 0 {
		return name, policy.Info{}, errors.New("at most 5 bytes: it matches no key")
	}
	k, lines := int(filter[n]), binary.LittleEndian.Uint32(filter[n+1:])
	if k == 0 || uint64(n) != lineBytes*uint64(lines) {
		return name, policy.Info{}, errors.New("not a Pebble Bloom filter: every key may be contained")
	}
	return name, policy.Info{K: k, Payload: filter[:n]}, nil
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

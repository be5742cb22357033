package tables

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2/bloom"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
)

// A FilterReader reads the filters that tables have under one policy's name. It accepts any bytes
// and is safe for concurrent use.
type FilterReader interface {
	// MayContain reports whether key may have been added to filter.
	MayContain(filter, key []byte) bool
	// Parse returns the name of the filter's encoding, such as "LevelDB Bloom". The error says what
	// is wrong with a filter that matches all keys or none. The name is returned nonetheless.
	Parse(filter []byte) (encoding string, err error)
}

// LevelDBFilters reads all encodings of package policy, which tell themselves apart.
var LevelDBFilters FilterReader = levelDBFilters{}

type levelDBFilters struct{}

func (levelDBFilters) MayContain(filter, key []byte) bool { return policy.MayContain(filter, key) }

func (levelDBFilters) Parse(filter []byte) (string, error) {
	info, err := policy.Parse(filter)
	return info.Encoding, err
}

// PebbleFilters reads Pebble's own Bloom filters:
//
//	lines    64 bytes each; all probes of a key lie in one line
//	k        1 byte
//	number   of lines, 4 bytes, little-endian
//
// A filter of at most 5 bytes has no keys and matches none, as in Pebble. Every other malformed
// filter matches all keys: one whose length does not fit its number of lines, or with k = 0.
var PebbleFilters FilterReader = pebbleFilters{}

type pebbleFilters struct{}

const (
	pebbleTrailer = 5
	pebbleLine    = 64
)

var (
	errNoLines   = errors.New("at most 5 bytes: it matches no key")
	errMalformed = errors.New("not a Pebble Bloom filter: every key may be contained")
)

func (pebbleFilters) Parse(filter []byte) (string, error) {
	const name = "Pebble Bloom"
	n := len(filter) - pebbleTrailer
	if n <= 0 {
		return name, errNoLines
	}
	k, lines := filter[n], binary.LittleEndian.Uint32(filter[n+1:])
	if k == 0 || uint64(n) != pebbleLine*uint64(lines) {
		return name, errMalformed
	}
	return name, nil
}

func (p pebbleFilters) MayContain(filter, key []byte) bool {
	if _, err := p.Parse(filter); err != nil { // Pebble divides by zero on some of these
		return err != errNoLines
	}
	// Any number of bits per key reads all filters.
	return bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
}

// readerOf returns the reader of the filters under a policy's name, nil if the name is not known.
// Filters under the names in bloom are read as package policy's.
func readerOf(name string, bloom []string) FilterReader {
	switch {
	case name == policy.Name, name == policy.NameGoLevelDB, slices.Contains(bloom, name):
		return LevelDBFilters
	case name == "rocksdb.BuiltinBloomFilter":
		return PebbleFilters
	}
	return nil
}

package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"

	"github.com/cockroachdb/pebble/v2/bloom"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
)

// IsOurs reports whether package policy reads the filters under a policy's name: under its own two,
// and those that match a pattern, as in [path.Match]. No name matches a malformed pattern.
func IsOurs(name string, patterns []string) bool {
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return name == policy.Name || name == policy.NameGoLevelDB
}

// filtersOf returns what is known of the filters under a policy's name.
func filtersOf(name string, patterns []string, pebble bool) *Filters {
	f := &Filters{Policy: name}
	switch {
	case pebble && name == "rocksdb.BuiltinBloomFilter":
		// Pebble's own, which any number of bits per key reads.
		f.MayContain = func(filter, key []byte) bool {
			return parsePebbles(filter) != nil ||
				bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
		}
		f.Parse = func(filter []byte) (string, error) {
			return "Pebble Bloom", parsePebbles(filter)
		}
	case IsOurs(name, patterns):
		f.MayContain = policy.MayContain
		f.Parse = func(filter []byte) (string, error) {
			info, err := policy.Parse(filter)
			return info.Encoding, err
		}
	}
	return f
}

// parsePebbles returns an error for a filter under Pebble's name that Pebble does not write. It has
// lines of bits, then the number of probes in a byte, and that of lines in 4.
func parsePebbles(filter []byte) error {
	const end, maxProbes = 5, 30
	n := len(filter) - end
	if n < 0 {
		return fmt.Errorf("%d bytes, and the shortest filter has %d", len(filter), end)
	}
	lines := binary.LittleEndian.Uint32(filter[n+1:])
	switch {
	case filter[n] > maxProbes: // RocksDB marks its newer kinds by a negative number
		return errors.New("a filter of RocksDB's, of a kind that Pebble does not have")
	case n > 0 && (lines == 0 || uint32(n)%lines != 0):
		return fmt.Errorf("%d bytes, which are not %d lines", n, lines)
	}
	return nil
}

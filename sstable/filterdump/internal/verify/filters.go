package verify

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/bloom"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
)

// filters are those that a table has under one policy's name.
type filters struct {
	policy string   // the name
	each   [][]byte // in order; one of no bytes has no keys
	bytes  int64    // what an engine keeps in memory to use them

	once    bool // a filter got each key once, as in Pebble; LevelDB adds every version
	guessed bool // the name is not known, so they may be none that are read here

	// mayContain reports whether key may have been added to filter. parse returns the name of a
	// filter's encoding, such as "LevelDB Bloom", and an error if it matches all keys or none.
	mayContain func(filter, key []byte) bool
	parse      func(filter []byte) (encoding string, err error)
}

// Pebbles is the name of the policy of Pebble's own filters.
const Pebbles = "rocksdb.BuiltinBloomFilter"

// filtersOf returns what is known of the filters under a policy's name. Under any name but Pebble's
// they may be LevelDB's or levelbloom's.
func filtersOf(name string, pebble bool) *filters {
	f := &filters{policy: name, once: pebble, mayContain: policy.MayContain}
	f.guessed = name != policy.Name && name != policy.NameGoLevelDB
	f.parse = func(filter []byte) (string, error) {
		info, err := policy.Parse(filter)
		return info.Encoding, err
	}
	if pebble && name == Pebbles { // which any number of bits per key reads
		f.guessed = false
		f.mayContain = func(filter, key []byte) bool {
			return parsePebbles(filter) != nil ||
				bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
		}
		f.parse = func(filter []byte) (string, error) { return "Pebble Bloom", parsePebbles(filter) }
	}
	return f
}

// parsePebbles returns an error for a filter under Pebble's name that Pebble does not write. It has
// lines of bits, then the number of probes in a byte, and that of lines in 4. RocksDB, which has
// the same name, marks its newer kinds by a negative number of probes.
func parsePebbles(filter []byte) error {
	const end, maxProbes = 5, 30
	n := len(filter) - end
	if n < 0 {
		return fmt.Errorf("%d bytes, and the shortest filter has %d", len(filter), end)
	}
	lines := binary.LittleEndian.Uint32(filter[n+1:])
	if filter[n] > maxProbes || n > 0 && (lines == 0 || uint32(n)%lines != 0) {
		return fmt.Errorf("%d probes in %d lines of %d bytes are no filter of Pebble's",
			filter[n], lines, n)
	}
	return nil
}

package tables

import (
	"github.com/cockroachdb/pebble/v2/bloom"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// A FilterReader reads the filters that tables have under one policy's name. It is safe for
// concurrent use.
type FilterReader interface {
	// MayContain reports whether key may have been added to filter.
	MayContain(filter, key []byte) bool
	// Parse returns the name of the filter's encoding, such as "LevelDB Bloom". The error says what
	// is wrong with a filter that matches all keys or none. The name is returned nonetheless.
	Parse(filter []byte) (encoding string, err error)
}

// LevelDBFilters reads all encodings of package policy, which tell themselves apart. It accepts any
// bytes.
type LevelDBFilters struct{}

func (LevelDBFilters) MayContain(filter, key []byte) bool { return policy.MayContain(filter, key) }

func (LevelDBFilters) Parse(filter []byte) (string, error) {
	info, err := policy.Parse(filter)
	return info.Encoding, err
}

// PebbleFilters reads Pebble's own Bloom filters, as Pebble does: malformed ones make it panic.
type PebbleFilters struct{}

func (PebbleFilters) MayContain(filter, key []byte) bool {
	// Any number of bits per key reads all filters.
	return bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
}

func (PebbleFilters) Parse([]byte) (string, error) { return "Pebble Bloom", nil }

// knownFilters returns the readers of filters by the names of policies. Package policy reads the
// filters under the names in bloom, too.
func knownFilters(bloom []string) map[string]FilterReader {
	known := map[string]FilterReader{}
	for _, name := range append([]string{policy.Name, policy.NameGoLevelDB}, bloom...) {
		known[name] = LevelDBFilters{}
	}
	return known
}

// chooseFilter returns the first filter whose policy is known, or else the first, and what is known
// of it. REQUIRES: len(entries) > 0.
func chooseFilter(
	entries []sstable.FilterEntry, known map[string]FilterReader,
) (sstable.BlockHandle, *Filters) {
	for _, e := range entries {
		if reader := known[e.Policy]; reader != nil {
			return e.Handle, &Filters{Policy: e.Policy, Reader: reader}
		}
	}
	return entries[0].Handle, &Filters{Policy: entries[0].Policy}
}

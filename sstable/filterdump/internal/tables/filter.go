package tables

import (
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
		// Pebble's own, which any number of bits per key reads. Malformed ones make it panic.
		f.MayContain = func(filter, key []byte) bool {
			return bloom.FilterPolicy(0).MayContain(pebblesst.TableFilter, filter, key)
		}
		f.Parse = func([]byte) (string, error) { return "Pebble Bloom", nil }
	case IsOurs(name, patterns):
		f.MayContain = policy.MayContain
		f.Parse = func(filter []byte) (string, error) {
			info, err := policy.Parse(filter)
			return info.Encoding, err
		}
	}
	return f
}

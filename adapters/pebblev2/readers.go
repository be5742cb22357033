package pebblev2

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/levelbloom/levelbloom/policy"
)

// engineBloom is Pebble's own policy. Reading needs no setting, so any bits per key do.
const engineBloom = bloom.FilterPolicy(10)

// readers returns what Options.Filters needs so that all filters are read: those of tables on disk,
// and those that filters will write.
func readers(o *pebble.Options, filters levelFilters) (map[string]pebble.FilterPolicy, error) {
	byName := make(map[string]pebble.FilterPolicy)
	maps.Copy(byName, o.Filters)
	former := append(formerFilters(o), engineBloom)
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		leveldb, err := policy.NewBloom(10, policy.WithName(name))
		if err != nil {
			return nil, err
		}
		former = append(former, filterPolicy{leveldb})
	}
	for _, f := range former {
		if byName[f.Name()] == nil {
			byName[f.Name()] = f
		}
	}
	for _, f := range slices.Backward(filters[:]) { // so that the first of a name counts
		if f == nil {
			continue
		}
		if err := checkShared(f, byName[f.Name()]); err != nil {
			return nil, err
		}
		for _, old := range formerFilters(o) {
			if err := checkShared(f, old); err != nil {
				return nil, err
			}
		}
		byName[f.Name()] = f
	}
	return byName, nil
}

// checkShared returns an error if f and old have the same name but may not share it. Pebble chooses
// the reader of a filter by its name alone, so one would read the filters of the other.
func checkShared(f, old pebble.FilterPolicy) error {
	if old == nil || old.Name() != f.Name() || old == f {
		return nil
	}
	if _, ours := old.(filterPolicy); ours { // every policy reads its filters
		return nil
	}
	return fmt.Errorf("pebblev2: the name %q is taken by a filter policy (%T) that may have another "+
		"encoding: give the new policy a name of its own with policy.WithName", f.Name(), old)
}

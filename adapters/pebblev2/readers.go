package pebblev2

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/levelbloom/levelbloom/policy"
)

// readers returns what Options.Filters needs so that all filters are read: those that filters will
// write, and those of tables on disk. Of several under one name, the first counts.
func readers(o *pebble.Options, filters levelFilters) (map[string]pebble.FilterPolicy, error) {
	byName := make(map[string]pebble.FilterPolicy)
	add := func(name string, f pebble.FilterPolicy) {
		if f != nil && byName[name] == nil {
			byName[name] = f
		}
	}
	for _, f := range filters {
		if f != nil {
			add(f.Name(), f)
		}
	}
	written := maps.Clone(byName)
	// Pebble chooses the reader of a filter by its name alone. Every policy of ours reads the
	// filters of the others, but of no other encoding.
	addFormer := func(name string, f pebble.FilterPolicy) error {
		if _, ours := f.(filterPolicy); f != nil && !ours && written[name] != nil {
			return fmt.Errorf("pebblev2: the name %q is taken by a filter policy (%T) that may have "+
				"another encoding: give the new policy a name of its own with policy.WithName", name, f)
		}
		add(name, f)
		return nil
	}
	var err error // the first
	for name, f := range o.Filters {
		err = cmp.Or(err, addFormer(name, f))
	}
	for _, f := range filtersOf(o) {
		if f != nil {
			err = cmp.Or(err, addFormer(f.Name(), f))
		}
	}
	for _, name := range []string{policy.NameLevelDB, policy.NameGoLevelDB} {
		leveldb, failed := policy.NewBloom(10, policy.WithName(name))
		err = cmp.Or(err, failed)
		add(name, filterPolicy{leveldb})
	}
	engines := bloom.FilterPolicy(10) // any number of bits reads all filters
	add(engines.Name(), engines)
	return byName, err
}

package pebblev2

import (
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/levelbloom/levelbloom/policy"
)

// engineBloom is Pebble's own policy. Its bits per key matter to tables that it writes; it reads any.
const engineBloom = bloom.FilterPolicy(10)

// readers returns what o.Filters has to hold, so that tables on disk and those that are written with filters are read.
func readers(o *pebble.Options, filters levelFilters) (map[string]pebble.FilterPolicy, error) {
	byName := make(map[string]pebble.FilterPolicy)
	maps.Copy(byName, o.Filters)
	add := func(f pebble.FilterPolicy) {
		if byName[f.Name()] == nil {
			byName[f.Name()] = f
		}
	}

	former := formerFilters(o)
	for _, f := range former {
		add(f)
	}
	add(engineBloom)
	// LevelDB's names belong to LevelDB's encoding, whether or not o says that such tables are there.
	anyBits, err := policy.NewBloom(10)
	if err != nil {
		return nil, err
	}
	add(&filterPolicy{policy: anyBits, name: policy.Name})
	add(&filterPolicy{policy: anyBits, name: policy.NameGoLevelDB})

	for _, f := range filters {
		if f == nil {
			continue
		}
		if err := checkShared(f, byName[f.Name()]); err != nil {
			return nil, err
		}
		for _, old := range former {
			if old.Name() != f.Name() {
				continue
			}
			if err := checkShared(f, old); err != nil {
				return nil, err
			}
		}
		byName[f.Name()] = f
	}

	return byName, nil
}

// checkShared returns an error unless f and old, which is nil if there is none, may share a name. What is not from this
// package may have any encoding. What is must keep the promise of policy.Policy: under one name, each reads the other's
// filters.
func checkShared(f, old pebble.FilterPolicy) error {
	if old == nil || old == f {
		return nil
	}
	a := f.(*filterPolicy)
	b, ok := old.(*filterPolicy)
	if !ok {
		return fmt.Errorf("pebblev2: the options have a policy of type %T under the name %q, and would read its filters "+
			"as those of the new policy: give the new one another name, with policy.WithName", old, a.name)
	}
	if !policy.Compatible(a.policy, b.policy) {
		return fmt.Errorf("pebblev2: policies of type %T and %T have the name %q, but one loses keys in the filters of the "+
			"other: give one of them another name, with policy.WithName", a.policy, b.policy, a.name)
	}
	return nil
}

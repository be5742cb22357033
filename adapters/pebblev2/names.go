package pebblev2

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// ByName returns a function for pebble.ParseHooks.NewFilterPolicy. Pebble's options files contain
// only the names of the levels' policies. The function returns the first candidate with the name,
// Pebble's own bloom.FilterPolicy(10) under its name, and Pebble's value for no filter for "none".
// Any other name is an error that lists the known ones. The function is safe for concurrent use.
//
// Levels whose policies share a name come back with one candidate, whatever their settings were.
// They still read each other's filters.
//
// Options files do not contain Options.Filters either: after parsing, call [Configure] or
// [ConfigureLevels] again if tables on disk may have filters under other names.
//
// ByName panics if policy.Check refuses a candidate.
func ByName(candidates ...policy.Policy) func(name string) (pebble.FilterPolicy, error) {
	known := []pebble.FilterPolicy{engineBloom}
	names := []string{"none", engineBloom.Name()}
	for _, p := range candidates {
		f := New(p)
		known = append(known, f)
		names = append(names, f.Name())
	}
	return func(name string) (pebble.FilterPolicy, error) {
		if name == "none" {
			return noFilter, nil
		}
		for _, f := range known {
			if f.Name() == name {
				return f, nil
			}
		}
		return nil, fmt.Errorf("pebblev2: no filter policy is named %q: known are %s; "+
			"pass the policy of that name to ByName", name, strings.Join(names, ", "))
	}
}

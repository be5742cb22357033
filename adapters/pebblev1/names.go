package pebblev1

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble"

	"github.com/levelbloom/levelbloom/policy"
)

// ByName returns a function for pebble.ParseHooks.NewFilterPolicy. Pebble's options files hold only the names of the
// levels' policies; the function returns the first of candidates that has the name, Pebble's own bloom.FilterPolicy(10)
// under its name, and nil for "none". Any other name is an error that lists the known ones. The
// function is safe for concurrent use. ByName panics if a candidate is nil.
//
// Levels with different bits per key, or of different encodings, under one name come back with the setting of one candidate.
// They still read each other's filters, but distinct settings survive an options file only under distinct names.
//
// Options files do not hold Options.Filters either: after parsing, call [Configure] or [ConfigureLevels] again if tables
// on disk may have filters of other names.
func ByName(candidates ...policy.Policy) func(name string) (pebble.FilterPolicy, error) {
	known := make([]pebble.FilterPolicy, 0, len(candidates))
	names := []string{"none", engineBloom.Name()}
	for _, p := range candidates {
		f := New(p)
		known = append(known, f)
		names = append(names, f.Name())
	}
	return func(name string) (pebble.FilterPolicy, error) {
		switch name {
		case "none":
			return noFilter, nil
		case engineBloom.Name():
			return engineBloom, nil
		}
		for _, f := range known {
			if f.Name() == name {
				return f, nil
			}
		}
		return nil, fmt.Errorf("pebblev1: no filter policy has the name %q: known are %s; pass the policy of that name to ByName",
			name, strings.Join(names, ", "))
	}
}

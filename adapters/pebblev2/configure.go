package pebblev2

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// An Option changes what [Configure] does.
type Option func(*settings)

type settings struct {
	l6 bool
}

// WithL6 gives L6 filters too. They pay only where iterators use SeekPrefixGE with IterOptions.UseL6Filters.
func WithL6() Option {
	return func(s *settings) { s.l6 = true }
}

// Configure sets p as the filter policy of the levels L0 to L5 of o. L6 gets none, even if o had one there, unless
// [WithL6] is given. Nothing else of the levels changes.
//
// It replaces o.Filters by a map with these readers, so that tables on disk keep their filters: the entries that
// o.Filters had, the policies that o's levels had, p, Pebble's own bloom.FilterPolicy, and readers of package policy's
// encodings under both of LevelDB's names, policy.Name and policy.NameGoLevelDB. Of several for one name the first counts,
// except that p replaces what stood under its name. The map that o.Filters was is left as it is.
//
// It returns an error, and leaves o as it is, if o or p is nil, if p's name is one that policy.WithName refuses, or if o
// has a policy under p's name and one of the two does not read the filters of the other: keys would be lost. Every policy
// that is not from this package counts as such; one that is, if a trial with a few keys shows it (policy.Compatible).
// The policies of package policy, exact, blocked and binary fuse, read each other's filters. Under LevelDB's two names the
// same is tried with LevelDB's encoding, whatever o has.
//
// Call it after the levels are set up and before pebble.Open. A database that is open keeps the filters it was opened
// with: Configure writes to o alone, not to the maps and slices that an open database shares with it. It must not run
// beside other uses of o, pebble.Open among them. The name that p has now is the name of its filters in o, even if p
// breaks its promise and changes it.
func Configure(o *pebble.Options, p policy.Policy, opts ...Option) error {
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	f, err := checked(p)
	if err != nil {
		return err
	}
	var filters levelFilters
	for level := range filters {
		if level < numLevels-1 || s.l6 {
			filters[level] = f
		}
	}
	return configure(o, filters)
}

// ConfigureLevels is [Configure] with one policy per level: levels[0] for L0, and so on up to levels[6] for L6. A level
// whose policy is nil, or that is past the end of levels, gets no filter: nothing extends downwards.
//
// Policies of different settings may share a name, because each reads the filters of the others. An options file,
// however, keeps only the names: settings that shall survive one (see [ByName]) need distinct names.
//
// Beside the errors of Configure, it returns one if levels is empty or has more than seven policies, or if policies that
// do not read each other's filters share a name.
func ConfigureLevels(o *pebble.Options, levels []policy.Policy) error {
	if len(levels) == 0 || len(levels) > numLevels {
		return fmt.Errorf("pebblev2: %d policies for the levels: pass 1 to %d, L0's first, nil for a level without filters",
			len(levels), numLevels)
	}
	var filters levelFilters
	for level, p := range levels {
		if p == nil {
			continue
		}
		f, err := checked(p)
		if err != nil {
			return fmt.Errorf("policy of L%d: %w", level, err)
		}
		filters[level] = f
	}
	return configure(o, filters)
}

// checked is New for policies that a database is to be written with.
func checked(p policy.Policy) (pebble.FilterPolicy, error) {
	if err := policy.Check(p); err != nil {
		return nil, fmt.Errorf("pebblev2: %w", err)
	}
	return New(p), nil
}

// configure sets the filters of all levels, or leaves o as it is and returns an error.
func configure(o *pebble.Options, filters levelFilters) error {
	if o == nil {
		return errors.New("pebblev2: the options are nil: pass &pebble.Options{}")
	}
	byName, err := readers(o, filters)
	if err != nil {
		return err
	}
	setLevels(o, filters)
	o.Filters = byName
	return nil
}

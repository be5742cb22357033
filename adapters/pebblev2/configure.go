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

// WithL6 gives L6 filters too. They only help iterators that call SeekPrefixGE with
// IterOptions.UseL6Filters.
func WithL6() Option {
	return func(s *settings) { s.l6 = true }
}

// Configure sets p as the filter policy of the levels L0 to L5 of o. L6 gets none, even if o had
// one there, unless [WithL6] is given. Nothing else about the levels changes. (Where Options.Levels
// is a slice, as in Pebble v1, o gets a new one.)
//
// Configure also replaces o.Filters, so that the filters of tables on disk stay in use. The new map
// contains, and the first of several under one name counts:
//
//   - p
//   - the entries of o.Filters
//   - the policies of o's levels
//   - Pebble's own bloom.FilterPolicy
//   - readers of package policy's filters under LevelDB's names, policy.Name and
//     policy.NameGoLevelDB
//
// It returns an error that says what to do, and leaves o alone, if o or an option is nil, if
// policy.Check refuses p, or if p may not share its name with what o has under that name: the
// policies of package policy may share one (policy.Compatible), any other may not.
//
// Call Configure once the levels are set up, as the last step before pebble.Open. It writes to o
// alone, so a database that is already open with o keeps its filters. It must not run concurrently
// with other uses of o.
func Configure(o *pebble.Options, p policy.Policy, opts ...Option) error {
	var s settings
	for _, opt := range opts {
		if opt == nil {
			return errors.New("pebblev2: an option is nil: leave it out")
		}
		opt(&s)
	}
	f, err := newFilterPolicy(p)
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

// ConfigureLevels is [Configure] with one policy per level: levels[0] for L0, up to levels[6] for
// L6. A level whose policy is nil, or that is past the end of levels, gets no filter.
//
// Policies with different settings may share a name, because each reads the filters of the others.
// But an options file stores only names: settings that must survive one need distinct names (see
// [ByName]).
//
// In addition to Configure's errors, it returns one if levels is empty or has more than seven
// policies, or if two of them may not share their name.
func ConfigureLevels(o *pebble.Options, levels []policy.Policy) error {
	if len(levels) == 0 || len(levels) > numLevels {
		return fmt.Errorf("pebblev2: %d policies for the levels: pass 1 to %d, L0's first, "+
			"nil for a level without filters", len(levels), numLevels)
	}
	var filters levelFilters
	for level, p := range levels {
		if p == nil {
			continue
		}
		f, err := newFilterPolicy(p)
		if err != nil {
			return fmt.Errorf("policy of L%d: %w", level, err)
		}
		filters[level] = f
	}
	return configure(o, filters)
}

// configure sets the filters of all levels, or leaves o alone and returns an error.
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

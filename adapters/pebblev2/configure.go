package pebblev2

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// An Option changes what [Configure] does.
type Option func(*settings) error

type settings struct {
	l6 pebble.FilterPolicy // nil is no filter
}

// WithL6 gives new tables of L6 filters of p instead of the other levels' policy. L6 has about nine
// tenths of the data, so a policy with fewer bits per key saves most of the memory: with 10 bits in
// the other levels and 7 in L6, a quarter (BenchmarkLevels). That does not hold for keys that are
// written in order: see [Configure] on tables that Pebble moves.
//
// p may share its name with the other policy. Give it a name of its own if the two must be counted
// apart, or survive an options file: see [ConfigureLevels].
func WithL6(p *policy.Policy) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("pebblev2: policy of L6: %w", err)
		}
		s.l6 = filterPolicy{p}
		return nil
	}
}

// WithoutL6 gives new tables of L6 no filters. It is for programs that look keys up with DB.Get
// alone, which never consults the filters of L6.
func WithoutL6() Option {
	return func(s *settings) error {
		s.l6 = nil
		return nil
	}
}

// Configure sets p as the filter policy of all levels of o. Nothing else about the levels changes.
// Call it once the levels are set up, as the last step before pebble.Open. It writes to o alone, so
// a database that is already open with o keeps its filters. It must not run concurrently with other
// uses of o.
//
// The lookups of this package consult the filters of L6, and so do iterators that call SeekPrefixGE
// with IterOptions.UseL6Filters. DB.Get never does, and loads none of them into the cache: to a
// program without these lookups they only cost disk. [WithL6] gives L6 another policy, and
// [WithoutL6] none.
//
// A table keeps its filter when Pebble moves it to a lower level instead of rewriting it. If keys
// are written in order, Pebble moves nearly all tables: the data then has the filters of the upper
// levels, whatever L6's policy is.
//
// Configure also replaces o.Filters, so that the filters of tables on disk stay in use. The new map
// contains p and the policy of WithL6, the entries of o.Filters, the policies of o's levels,
// Pebble's own bloom.FilterPolicy, and readers of package policy's filters under policy.Name and
// policy.NameGoLevelDB. Of several under one name, the first in this order counts.
//
// Configure also adds a collector to o.BlockPropertyCollectors. It marks each new table, with 39
// bytes, for [Has] and the others to consult its filter and read no data. Tables get no mark if
// index blocks of a level may be larger than 16 KiB (IndexBlockSize, which is BlockSize unless
// set), because a probe would step over every block of such an index block, which costs more than
// a read. In Pebble v1 they get none before FormatBlockPropertyCollector either; its default is an
// older format. No table without the mark loses a key, but Has may read more of it.
//
// In Pebble v1 the lookups need a comparer with a Split. If L6 gets filters and o's comparer lacks
// one, as Pebble's default does, Configure replaces it with a copy whose Split is the whole key.
// Then DB.RangeKeySet returns no error and SeekPrefixGE does not panic. Nothing else changes, and
// the database can be opened with either comparer.
//
// It returns an error that says what to do, and leaves o alone, if o or an option is nil, if there
// are more collectors than Pebble has room for, if no constructor returned a policy, or if a filter
// policy in o bears the name of one of them and may use another encoding.
func Configure(o *pebble.Options, p *policy.Policy, opts ...Option) error {
	if err := p.Check(); err != nil {
		return fmt.Errorf("pebblev2: %w", err)
	}
	f := filterPolicy{p}
	s := settings{l6: f}
	for _, opt := range opts {
		if opt == nil {
			return errors.New("pebblev2: an option is nil: leave it out")
		}
		if err := opt(&s); err != nil {
			return err
		}
	}
	var filters levelFilters
	for level := range filters {
		filters[level] = f
	}
	filters[numLevels-1] = s.l6
	return configure(o, filters)
}

// ConfigureLevels is [Configure] with one policy per level: levels[0] for L0, up to levels[6] for
// L6. A level whose policy is nil, or that is past the end of levels, gets no filter; a constructor
// that fails returns nil too, so check its error first. More bits are worth most in L0, which has
// little data, but several tables that may have a key: adapters/README.md has figures. A table that
// Pebble moves keeps its filter: see Configure.
//
// Policies with different settings may share a name, because each reads the filters of the others.
// But an options file stores only names: if it must keep the settings apart, give each policy its
// own name, and let pebble.ParseHooks.NewFilterPolicy look it up in a map of your own, from names
// to what [New] returns. Call ConfigureLevels again after parsing, for Options.Filters.
//
// It also returns an error if levels is empty or longer than seven.
func ConfigureLevels(o *pebble.Options, levels []*policy.Policy) error {
	if len(levels) == 0 || len(levels) > numLevels {
		return fmt.Errorf("pebblev2: %d policies for the levels: pass 1 to %d, L0's first, "+
			"nil for a level without filters", len(levels), numLevels)
	}
	var filters levelFilters
	for level, p := range levels {
		if p == nil {
			continue
		}
		if err := p.Check(); err != nil {
			return fmt.Errorf("pebblev2: policy of L%d: %w", level, err)
		}
		filters[level] = filterPolicy{p}
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
	collectors, err := withMark(o)
	if err != nil {
		return err
	}
	setLevels(o, filters)
	o.Filters, o.BlockPropertyCollectors = byName, collectors
	return nil
}

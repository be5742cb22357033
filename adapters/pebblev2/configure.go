package pebblev2

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/policy"
)

// An Option gives one level filters of its own: see [WithLevel]. The zero value is refused.
type Option struct {
	level int
	p     *policy.Policy
}

// WithLevel gives new tables of a level, 0 to 6, filters of p instead of those of [Configure]'s
// policy, or none if p is the zero Policy, &policy.Policy{}.
//
// More bits per key are worth most in L0, which has little data, but several tables that may have a
// key. L6 has about nine tenths of the data: fewer bits there save most memory, and no filters save
// disk for programs that look keys up with DB.Get alone. adapters/README.md has figures.
//
// Policies of all kinds and settings may share a name. Then that of the uppermost level reads the
// filters of all, and policy.WithCounters counts there. And an options file stores only names. To
// keep levels apart, give each policy its own name, and return from
// pebble.ParseHooks.NewFilterPolicy what [New] returns for the policy of that name. Call Configure
// again after parsing, for Options.Filters.
func WithLevel(level int, p *policy.Policy) Option { return Option{level, p} }

// Configure sets p as the filter policy of all levels of o, but for those that opts give others.
// L0 gets 16 bits per key, and L6 no filters, by
//
//	err = pebblev2.Configure(o, p, pebblev2.WithLevel(0, p16),
//		pebblev2.WithLevel(6, &policy.Policy{}))
//
// Nothing else about the levels changes. Call it once they are set up, as the last step before
// pebble.Open, and not concurrently with other uses of o. A database that is already open with o
// keeps its filters.
//
// Pebble moves tables to lower levels with their filters, nearly all tables if keys are written in
// order. L6 then has the filters of the upper levels, whatever its own policy is.
//
// Pebble finds what reads a filter in o.Filters, by the filter's name. Configure replaces that map,
// so that the filters of tables on disk stay in use. The new one has the policies of all levels,
// the entries of o.Filters, the former policies of o's levels, Pebble's own bloom.FilterPolicy, and
// readers of package policy's filters under LevelDB's and goleveldb's name. Of several under one
// name, the first in this order is used.
//
// It also adds a collector to o.BlockPropertyCollectors, which marks each new table, with 39 bytes:
// [Has] needs that to consult its filter and read no data. Tables get no mark if index blocks of a
// level may be larger than 16 KiB (IndexBlockSize, which is BlockSize unless set): to step over all
// entries of such a block costs more than a read. [Check] says so. When you pass a marked table to
// sstable.RewriteKeySuffixesAndReturnFormat, pass no BlockPropertyCollectors, and the table's own
// FilterPolicy, from o.Filters.
//
// Configure returns an error that says what to do, and leaves o alone, if o or a policy is nil, if
// p is the zero Policy, if a level does not exist or has two options, if there are more collectors
// than Pebble has room for, or if a filter policy in o has the name of a new one and may use
// another encoding.
func Configure(o *pebble.Options, p *policy.Policy, opts ...Option) error {
	if o == nil {
		return errors.New("pebblev2: the options are nil: pass &pebble.Options{}")
	}
	filters, err := newFilters(p, opts)
	if err != nil {
		return err
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

// newFilters returns the policies that the levels get.
func newFilters(p *policy.Policy, opts []Option) (filters levelFilters, err error) {
	if err := p.Check(); err != nil {
		return filters, fmt.Errorf("pebblev2: %w", err)
	}
	for level := range filters {
		filters[level] = filterPolicy{p}
	}
	var given [numLevels]bool
	for _, opt := range opts {
		level := opt.level
		switch {
		case level < 0 || level >= numLevels:
			return filters, fmt.Errorf("pebblev2: WithLevel of level %d: pass 0 for L0 to %d for L%[2]d",
				level, numLevels-1)
		case given[level]:
			return filters, fmt.Errorf("pebblev2: two options for L%d: leave one out", level)
		case opt.p == nil:
			return filters, fmt.Errorf("pebblev2: the policy of L%d is nil: check the error of the "+
				"constructor, or for no filters pass &policy.Policy{}", level)
		}
		given[level] = true
		filters[level] = filterPolicy{opt.p}
		if opt.p.Check() != nil { // the zero Policy
			filters[level] = nil
		}
	}
	return filters, nil
}

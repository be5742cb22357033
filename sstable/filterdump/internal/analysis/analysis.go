// Package analysis finds out what the filters of a table are worth: it looks at their bits,
// compares them with the table's keys, and asks them about absent keys that resemble these.
package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// MaxAbsent is the largest Options.Absent.
const MaxAbsent = 1 << 20

// Options say what to find out. The zero value will do.
type Options struct {
	VerifyOnly bool // compare the table's keys with the filters, ask about no others, no advice

	Absent int    // absent keys of each sort, 1 to MaxAbsent; 0 means 65536
	Seed   uint64 // of all random choices: the same table and options give the same report
}

// Analyze reads all entries of t and reports on its filters. It keeps samples of o.Absent pairs of
// keys at most, and 8 bytes per filter, however many entries there are.
//
// Keys that cannot be read leave the table unverified, without entries in the report. Other errors
// are those of t.Keys, and that of ctx if it ends; the report is nil then. False negatives are no
// error: the report counts them.
func Analyze(ctx context.Context, t tables.Table, o Options) (*Report, error) {
	a := &analyzer{
		ctx: ctx, t: t, info: t.Info(), filters: t.Info().Filters,
		rng: rand.New(rand.NewPCG(o.Seed, 0)), absent: cmp.Or(o.Absent, 1<<16),
	}
	if o.VerifyOnly {
		a.absent = 0 // so that no neighbors are sampled either
	}
	if err := a.survey(); err != nil {
		return nil, err
	}
	if !o.VerifyOnly {
		if err := a.probe(); err != nil {
			return nil, err
		}
		a.report.Advice = advise(a.info, &a.report)
	}
	report := a.report // a pointer into a would keep the samples and the filters
	return &report, nil
}

// An analyzer holds what Analyze has found out so far.
type analyzer struct {
	ctx     context.Context
	t       tables.Table
	info    *tables.Info
	filters *tables.Filters // nil: none
	rng     *rand.Rand
	absent  int
	report  Report

	seen   *survey // what was found in the entries
	shapes shapes
}

// survey reads the entries and looks at the filters.
func (a *analyzer) survey() error {
	a.seen = newSurvey(a.rng, a.filters, a.absent)
	if a.filters != nil && a.filters.Reader != nil && a.info.Unverified == "" {
		a.seen.compared = a.filters
	}
	err := a.eachEntry(a.seen.add)
	var unsupported *tables.UnsupportedError
	if unread := errors.As(err, &unsupported) && a.info.Unverified != ""; err != nil && !unread {
		return err
	}
	a.shapes = learn(a.seen.sample.sample)
	r := &a.report
	r.KeyShape = a.shapes.String()
	r.Entries, r.Keys, r.Unfiltered = a.seen.entries, a.seen.keys, a.seen.unfiltered
	if a.filters == nil {
		return nil
	}
	r.countFilters(a.filters, a.seen.perFilter)
	switch {
	case a.filters.Reader == nil:
		r.Unverified = fmt.Sprintf("the policy %s is not known here: if it is LevelDB's or "+
			"levelbloom's under another name, pass -bloom %[1]s", a.filters.Policy)
		return nil
	case a.info.Unverified != "":
		r.Unverified = a.info.Unverified
	}
	r.measure(a.filters, a.seen.perFilter)
	if a.seen.compared != nil {
		// Filters that cannot be parsed match every key, or none: nothing is verified by them.
		r.Unverified = r.unparsed()
		r.Verified = r.Unverified == ""
		r.FalseNegatives, r.Lost = a.seen.lost, a.seen.lostKeys
	}
	return nil
}

// eachEntry calls f for each entry of the table until ctx ends.
func (a *analyzer) eachEntry(f func(filter int, key []byte) error) error {
	n := 0
	return a.t.Keys(func(filter int, key []byte) error {
		if n++; n%1024 == 0 {
			if err := a.ctx.Err(); err != nil {
				return err
			}
		}
		return f(filter, key)
	})
}

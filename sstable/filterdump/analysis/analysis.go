package analysis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// MaxAbsent is the largest Options.Absent.
const MaxAbsent = 1 << 20

// Options say how much to ask. The zero value will do.
type Options struct {
	Absent int    // absent keys of each kind to ask for, at most MaxAbsent; 0 means 65536
	Seed   uint64 // of all random choices: the same table and options give the same report
}

// Analyse reads all entries of t, once or twice, and reports on its filters. What it keeps of them, however many there are,
// is samples of 32 MiB at most each (a few MiB in all, unless keys are long), and 16 bytes a filter.
//
// Keys that cannot be read leave the table unverified, with no entries in the report. The errors are those of t.Keys
// otherwise, that of ctx if it ends, and one that says what to pass if an option is out of range; the report is nil then.
// False negatives are no error, but counted in the report.
func Analyse(ctx context.Context, t tables.Table, o Options) (*Report, error) {
	switch {
	case o.Absent < 0 || o.Absent > MaxAbsent:
		return nil, fmt.Errorf("%d absent keys: pass a number from 1 to 2^20, or 0 for 65536", o.Absent)
	case o.Absent == 0:
		o.Absent = 1 << 16
	}
	a := &analyst{t: t, info: t.Info(), rng: rand.New(rand.NewPCG(o.Seed, 0)), absent: o.Absent}
	if err := a.survey(ctx); err != nil {
		return nil, err
	}
	if err := a.ask(ctx); err != nil {
		return nil, err
	}
	a.report.Advice = advise(a.info, &a.report, a.layout)
	report := a.report // a pointer into a would keep the samples and the filters
	return &report, nil
}

// An analyst holds what Analyse found out so far.
type analyst struct {
	t      tables.Table
	info   *tables.Info
	rng    *rand.Rand
	absent int
	report Report

	known  bool    // the filters' encoding is known, by name or because all keys match
	seen   *survey // what the first pass found
	shapes shapes
	layout *layout // nil: the filters are not all of one encoding that tells its setting, or unverified
}

// survey reads the entries, and looks at the filters.
func (a *analyst) survey(ctx context.Context) error {
	filters := a.info.Filters
	n := 0
	if filters != nil {
		n = len(filters.Each)
	}
	a.seen = newSurvey(a.rng, n, a.absent)
	compared := filters != nil && filters.Encoding != nil && a.info.Unverified == ""
	if compared {
		a.seen.verifier = &verifier{filters: filters}
	}
	err := eachEntry(ctx, a.t, a.seen.add)
	var unsupported *tables.UnsupportedError
	if unread := errors.As(err, &unsupported) && a.info.Unverified != ""; err != nil && !unread {
		return err
	}
	a.shapes = learn(a.seen.sample.sample)
	r := &a.report
	r.KeyShape = a.shapes.String()
	r.Entries, r.Keys, r.Unfiltered = a.seen.entries, a.seen.keys, a.seen.unfiltered
	if filters == nil {
		return nil
	}
	r.size(filters)
	switch {
	case compared:
		a.known = a.seen.verifier.conclude(r)
	case a.info.Unverified != "":
		r.Unverified = a.info.Unverified
		a.known = filters.Encoding != nil && !filters.Presumed
	default:
		r.Unverified = fmt.Sprintf("the encoding of the filters of the policy %s is not known here", filters.Policy)
	}
	if a.known {
		r.nameEncodings(filters)
		r.measure(filters)
	}
	if r.Verified {
		if l, ok := layoutOf(filters, a.seen.perFilter); ok {
			a.layout = &l
		}
	}
	return nil
}

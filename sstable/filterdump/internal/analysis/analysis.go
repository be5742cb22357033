// Package analysis finds out what the filters of a table are worth: it looks at their bits,
// compares them with the table's keys, and asks them about absent keys between these.
package analysis

import (
	"context"
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Analyze reads all entries of t and reports on its filters. It measures no rate if verifyOnly is
// set. It keeps 65,536 keys at most, and 8 bytes per filter, however many entries there are. The
// same table gives the same report.
//
// Keys that cannot be read leave the table unverified, without entries in the report. Other errors
// are those of t.Keys, and that of ctx if it ends; the report is nil then. False negatives are no
// error: the report counts them.
func Analyze(ctx context.Context, t tables.Table, verifyOnly bool) (*Report, error) {
	info := t.Info()
	s := newSurvey(info, verifyOnly)
	n := 0
	err := t.Keys(func(filter int, key []byte) error {
		if n++; n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.add(filter, key)
		return nil
	})
	var unsupported *tables.UnsupportedError
	if unread := errors.As(err, &unsupported) && info.Unverified != ""; err != nil && !unread {
		return nil, err
	}
	if info.Filters != nil {
		s.judge(info)
	}
	if !verifyOnly {
		if err := s.ask(ctx, t); err != nil {
			return nil, err
		}
	}
	report := s.Report // a pointer into s would keep the absent keys and the filters
	return &report, nil
}

// judge says whether the filters were compared with the keys, and looks at their bits.
func (s *survey) judge(info *tables.Info) {
	s.countFilters(info.Filters, s.perFilter)
	if info.Filters.Reader == nil {
		s.Unverified = fmt.Sprintf("the policy %s is not known here: if it is LevelDB's or "+
			"levelbloom's under another name, pass -bloom %[1]s", info.Filters.Policy)
		return
	}
	// Filters that cannot be parsed match every key, or none: nothing is verified by them.
	s.Unverified = s.measure(info.Filters, s.perFilter)
	if s.compared == nil {
		s.Unverified = info.Unverified
	}
	s.Verified = s.Unverified == ""
}

// ask asks each filter about the absent keys for which lookups would ask it.
func (s *survey) ask(ctx context.Context, t tables.Table) error {
	switch {
	case t.Info().Filters == nil:
		s.BetweenUnasked = "the table has no filter"
		return nil
	case s.compared == nil:
		s.BetweenUnasked = s.Unverified
		return nil
	case !s.bytewise:
		s.BetweenUnasked = "the keys are not in bytewise order: the table has another comparer, " +
			"and what lies between two keys is not known"
		return nil
	}
	var asked, passed int64
	for i, key := range s.absent.keys {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		filter := t.Locate(key)
		if filter < 0 {
			continue
		}
		asked++
		if s.compared.Reader.MayContain(s.compared.Each[filter], key) {
			passed++
		}
	}
	if s.Between = newRate(asked, passed); asked == 0 {
		s.BetweenUnasked = "no key of the same length lies between two keys where a filter is asked"
	}
	return nil
}

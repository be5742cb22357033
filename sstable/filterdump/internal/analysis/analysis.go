// Package analysis finds out what a table's filters are: it parses them, compares them with the
// table's keys, and samples these.
package analysis

import (
	"context"
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Analyze reads all entries of t and reports on its filters. It offers the keys to sample, unless
// that is nil. Besides, it keeps 8 bytes per filter, however many entries there are. The same table
// gives the same report.
//
// Keys that cannot be read leave the table unverified, without entries in the report. Other errors
// are those of t.Keys, and that of ctx if it ends; the report is nil then. False negatives are no
// error: the report counts them.
func Analyze(ctx context.Context, t tables.Table, sample *Sample) (*Report, error) {
	info := t.Info()
	s := newSurvey(info, sample)
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
	s.Ribbon, s.Small = plan(ribbon, s.perFilter), plan(smallRibbon, s.perFilter)
	report := s.Report // a pointer into s would keep the filters
	return &report, nil
}

// judge says whether the filters were compared with the keys, and parses them.
func (s *survey) judge(info *tables.Info) {
	s.countFilters(info.Filters, s.perFilter)
	if info.Filters.Reader == nil {
		s.Unverified = fmt.Sprintf("the policy %s is not known here: if it is LevelDB's or "+
			"levelbloom's under another name, pass -bloom %[1]s", info.Filters.Policy)
		return
	}
	// Filters that cannot be parsed match every key, or none: nothing is verified by them.
	s.Unverified = s.parse(info.Filters)
	if s.compared == nil {
		s.Unverified = info.Unverified
	}
	s.Verified = s.Unverified == ""
}

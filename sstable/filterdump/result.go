package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Status is what came out for a table.
type Status string

const (
	Sound         Status = "sound"          // every key matches its filter
	NoFilter      Status = "no filter"      // nothing to verify
	Unverified    Status = "unverified"     // keys and filters cannot be compared
	FalseNegative Status = "false negative" // a key does not match its filter
	Corrupt       Status = "corrupt"        // bytes are not what they should be
	Unsupported   Status = "unsupported"    // a table that cannot be read here
	Unreadable    Status = "unreadable"     // the system did not let it be read
	NotTable      Status = "not a table"    // neither its name nor its end is a table's
	Unfinished    Status = "unfinished"     // its end is missing, and may be yet to come
	Vanished      Status = "vanished"       // the database has deleted it meanwhile
	LeftOver      Status = "left over"      // no manifest names it, and it has not been finished
)

// A Result is one table in the output of -json. The fields of its filters are absent where it has
// none, and those of the analysis where it could not be made.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	Format   string `json:"format,omitempty"`
	Size     int64  `json:"size,omitempty"` // of the file in bytes
	Comparer string `json:"comparer,omitempty"`

	*Filter
	*analysis.Report

	KeyText string `json:"key,omitempty"` // with -key
	noEnd   bool   // it does not end as a table does
}

// Filter is the part of a Result about how a table's filters are stored.
type Filter struct {
	Policy string   `json:"policy"`
	Layout string   `json:"layout"` // "window": a filter per 2^base_lg bytes of data; "table": one
	BaseLg int      `json:"base_lg,omitempty"`
	Others []string `json:"other_filters,omitempty"` // policies of filters not looked at
}

const (
	layoutWindow = "window"
	layoutTable  = "table"
)

// describe fills in what the table tells about itself.
func (r *Result) describe(info *tables.Info) {
	r.Format, r.Size, r.Comparer = info.Format, info.Size, info.Comparer
	f := info.Filters
	if f == nil {
		return
	}
	r.Filter = &Filter{Policy: f.Policy, Layout: layoutTable, Others: info.Others}
	if f.PerWindow {
		r.Layout, r.BaseLg = layoutWindow, f.BaseLg
	}
}

// judge sets the status after the analysis.
func (r *Result) judge(report *analysis.Report) {
	r.Report = report
	switch {
	case report.FalseNegatives > 0:
		r.Status = FalseNegative
	case r.Filter == nil:
		r.Status = NoFilter
	case !report.Verified:
		r.Status, r.Reason = Unverified, report.Unverified
	default:
		r.Status = Sound
	}
}

// fail sets the status after an error.
func (r *Result) fail(err error) {
	var corrupt *sstable.CorruptionError
	var unsupported *tables.UnsupportedError
	r.Reason = withoutPath(err, r.Path)
	r.Reason = strings.TrimPrefix(strings.TrimPrefix(r.Reason, "corrupt: "), "corrupt ")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Status = Vanished
		if _, err := os.Lstat(r.Path); err == nil {
			r.Status, r.Reason = Unreadable, "a symbolic link that leads nowhere"
		}
	case errors.Is(err, tables.ErrNoEnd) && !tables.HasName(r.Path):
		r.Status, r.Reason = NotTable, strings.TrimPrefix(r.Reason, "not a table: ")
	case errors.Is(err, sstable.ErrCompression), errors.Is(err, sstable.ErrTooLarge):
		r.Status = Unsupported
	case errors.As(err, &corrupt):
		r.Status = Corrupt
	case errors.As(err, &unsupported):
		r.Status, r.Format = Unsupported, unsupported.Format
	default:
		r.Status = Unreadable
	}
}

// markLeftOvers sets the status of tables that are damaged and that no manifest names.
func markLeftOvers(results []*Result) {
	damaged := map[string][]string{} // paths by directory
	for _, r := range results {
		if r.Status == Corrupt {
			dir := filepath.Dir(r.Path)
			damaged[dir] = append(damaged[dir], r.Path)
		}
	}
	for dir, paths := range damaged {
		left := tables.LeftOver(dir, paths)
		for _, r := range results {
			if left[r.Path] {
				r.Status = LeftOver
			}
		}
	}
}

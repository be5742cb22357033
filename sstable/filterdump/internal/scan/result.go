package scan

import (
	"errors"
	"io/fs"
	"os"
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
	Unreadable    Status = "unreadable"     // it is no table, or the system did not let it be read
	Unfinished    Status = "unfinished"     // its end is missing, and may be yet to come
	Vanished      Status = "vanished"       // the database has deleted it meanwhile
)

// A Result is one table in the output of -json. The fields of Info's Filters are absent where it
// has none, and those of the Report where it could not be made.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	tables.Info
	*analysis.Report

	KeyText string   `json:"key,omitempty"`    // with Settings.Key
	Sample  [][]byte `json:"sample,omitempty"` // on its way from a child: never in a report
	noEnd   bool     // it does not end as a table does
}

// judge sets the status after the analysis.
func (r *Result) judge(report *analysis.Report) {
	r.Report = report
	switch {
	case report.FalseNegatives > 0:
		r.Status = FalseNegative
	case r.Filters == nil:
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
	r.Reason = WithoutPath(err, r.Path)
	r.Reason = strings.TrimPrefix(strings.TrimPrefix(r.Reason, "corrupt: "), "corrupt ")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Status = Vanished
		if _, err := os.Lstat(r.Path); err == nil {
			r.Status, r.Reason = Unreadable, "a symbolic link that leads nowhere"
		}
	case errors.Is(err, tables.ErrNoEnd) && !tables.HasName(r.Path):
		r.Status = Unreadable
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

// WithoutPath is the text of an error without the path, which stands before it already.
func WithoutPath(err error, path string) string {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == path {
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}

package scan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable"
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
	Missing       Status = "missing"        // there is no such file
	Unreadable    Status = "unreadable"     // no table, or not read here: the reason says why
)

// A Result is what was read of a table, and a table in the output of --json. The fields of Filters
// are absent from a table without filters, and the fields of Report from one that could not be
// read.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	tables.Info
	*Report
}

// Kinds returns the encodings of the filters.
func (r *Result) Kinds() string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(r.Encodings)), ", "), "unknown")
}

// judge sets the status after all entries were read. A doubt says why the filters are not verified.
func (r *Result) judge(report *Report, doubt string) {
	r.Report, r.Status, r.Reason = report, Sound, doubt
	switch {
	case r.FalseNegatives > 0:
		r.Status = FalseNegative
		r.Reason = fmt.Sprintf("%d of %s do not match their filter: %s", r.FalseNegatives,
			Count(r.Entries, "entry"), strings.Join(r.Lost, ", "))
		if r.FalseNegatives > int64(len(r.Lost)) {
			r.Reason += ", ..."
		}
	case doubt != "":
		r.Status = Unverified
	case r.Encodings == nil:
		r.Status = NoFilter
	}
}

// failed returns the result for a table that could not be read.
func (f File) failed(err error) *Result {
	r := &Result{Path: f.Path, Status: Unreadable, Reason: WithoutPath(err, f.Open)}
	var corrupt *sstable.CorruptionError
	if errors.As(err, &corrupt) {
		r.Reason = corrupt.Cause.Error()
		if corrupt.Offset >= 0 {
			r.Reason = fmt.Sprintf("at offset %d: %s", corrupt.Offset, r.Reason)
		}
	}
	r.Reason = r.Reason[:min(len(r.Reason), 1000)] // a forged length can make a name any size
	is := func(kind error) bool { return errors.Is(err, kind) }
	switch {
	case is(fs.ErrNotExist):
		r.Status = Missing
	case is(tables.ErrUnknown):
		r.Status = Unverified
	case is(tables.ErrUnsupported), is(sstable.ErrCompression), is(sstable.ErrTooLarge):
		// Its bytes may be right.
	case corrupt != nil, is(tables.ErrCrashed), is(tables.ErrNoEnd) && tables.HasName(f.Path):
		r.Status = Corrupt
	}
	return r
}

// WithoutPath is the text of an error without the path, which stands before it already.
func WithoutPath(err error, path string) string {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == path {
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}

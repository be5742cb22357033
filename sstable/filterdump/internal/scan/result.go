package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

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
	Unsupported   Status = "unsupported"    // a table that cannot be read here
	Unreadable    Status = "unreadable"     // it is no table, or the system did not let it be read
	Unfinished    Status = "unfinished"     // its end is missing, and may be yet to come
	Vanished      Status = "vanished"       // the database has deleted it meanwhile
)

// A Result is what was read of a table, and a table in the output of --json. The fields of Filters
// are absent from a table without filters, and the fields of Report from one that could not be
// read.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"` // empty where a question other than Verify was answered
	Reason string `json:"reason,omitempty"`

	tables.Info
	*Report

	Sample [][]byte `json:"-"` // keys, on their way to another sample
	Answer Answer   `json:"-"`
}

// judge sets the status after all entries were compared.
func (r *Result) judge() {
	switch {
	case r.FalseNegatives > 0:
		r.Status = FalseNegative
		r.Reason = fmt.Sprintf("%d of %s do not match their filter: %s", r.FalseNegatives,
			Count(r.Entries, "entry", "entries"), strings.Join(r.Lost, ", "))
		if r.FalseNegatives > int64(len(r.Lost)) {
			r.Reason += ", ..."
		}
	case r.Filters == nil:
		r.Status = NoFilter
	case r.Report.Unverified != "":
		r.Status, r.Reason = Unverified, r.Report.Unverified
	default:
		r.Status = Sound
	}
}

// A table's magic number is at its very end. So a file without an end that has changed recently may
// be a table that is being written, or a copy: it is unfinished. The tables that a manifest names
// are complete.
const writerRest = 10 * time.Second

// failed returns the result for a table that could not be read.
func failed(path string, err error) *Result {
	r := &Result{Path: path, Reason: WithoutPath(err, path)}
	r.Reason = strings.TrimPrefix(strings.TrimPrefix(r.Reason, "corrupt: "), "corrupt ")
	var corrupt *sstable.CorruptionError
	var unsupported *tables.UnsupportedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Status = Vanished
		if _, err := os.Lstat(path); err == nil {
			r.Status, r.Reason = Unreadable, "a symbolic link that leads nowhere"
		}
	case errors.Is(err, tables.ErrNoEnd):
		r.Status = Corrupt
		if info, err := os.Stat(path); !tables.HasName(path) {
			r.Status = Unreadable
		} else if err == nil && time.Since(info.ModTime()) < writerRest {
			r.Status = Unfinished
		}
	case errors.Is(err, sstable.ErrCompression), errors.Is(err, sstable.ErrTooLarge):
		r.Status = Unsupported
	case errors.As(err, &corrupt):
		r.Status = Corrupt
	case errors.As(err, &unsupported):
		r.Status, r.Format = Unsupported, unsupported.Format
	default:
		r.Status = Unreadable
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

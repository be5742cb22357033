// Package verify reads single tables of LevelDB, goleveldb and Pebble, and compares all of their
// keys with their filters.
//
// Whatever its format, a table is keys, and the filters that were built from them (open.go). One
// pass over the keys finds those that their filter denies (survey.go). What comes out is a Result,
// also for bytes that are no table: no table ends the program.
package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A File is a table to be verified.
type File struct {
	Path     string // for the reader of the report
	Open     string // the path by which it is opened
	Database bool   // it is part of one: its keys are internal, its comparer is the default one
	Size     int64  // how many bytes of the file it takes; 0: all
	Merger   string // the name of Pebble's merger, "" if it is not known

	Policies []string // further names of policies whose filters are LevelDB's or levelbloom's
}

// Status is what came out for a table.
type Status string

const (
	FalseNegative Status = "with a false negative" // a key does not match its filter
	Corrupt       Status = "corrupt"               // bytes are not what they should be
	Missing       Status = "missing"               // there is no such file
	Sound         Status = "sound"                 // every key matches its filter
	NoFilter      Status = "without filters"       // nothing to verify
	Unverified    Status = "unverified"            // keys and filters cannot be compared
	Unreadable    Status = "unreadable"            // no table, or not read here: see the reason
)

// Statuses are all, the worst first.
var Statuses = []Status{FalseNegative, Corrupt, Missing, Unreadable, Unverified, Sound, NoFilter}

// IsFault reports whether the status says that the table is damaged.
func (s Status) IsFault() bool { return s == FalseNegative || s == Corrupt || s == Missing }

// IsFine reports whether the table is as it should be.
func (s Status) IsFine() bool { return s == Sound || s == NoFilter }

// A Result is what was read of a table, and a table in the output of --json.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	Size       int64 `json:"size"`        // of the table, in bytes
	IndexBytes int64 `json:"index_bytes"` // what the index takes in an engine's cache
	Entries    int64 `json:"entries"`     // all versions of all keys
	Keys       int64 `json:"keys"`        // entries with another key than the one before

	Policy      string         `json:"policy,omitempty"`       // the name under which filters stand
	ByKind      map[string]int `json:"kinds,omitempty"`        // filters by kind; nil: none
	FilterBytes int64          `json:"filter_bytes,omitempty"` // in an engine's cache

	FalseNegatives int64    `json:"false_negatives,omitempty"`
	Lost           []string `json:"false_negative_keys,omitempty"` // the first ten, in hex

	// What filters of policy.NewRibbon(10) would be: their size, and the mean of their
	// false-positive probabilities, weighted by their keys.
	RibbonBytes float64 `json:"ribbon_bytes,omitempty"`
	RibbonFPP   float64 `json:"ribbon_fpp,omitempty"`

	prefixed bool    // a filter has a prefix of each key that does not match it
	evidence float64 // for it: minus the logarithm of how likely it is by chance
}

// Kinds returns the kinds of the filters.
func (r *Result) Kinds() string {
	return strings.Join(slices.Sorted(maps.Keys(r.ByKind)), ", ")
}

// Verify verifies tables of one database, several at once, and returns the results in their order.
// Before each table it calls begin with the table's index.
func Verify(files []File, begin func(i int)) []*Result {
	results, running := make([]*Result, len(files)), make(chan bool, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, f := range files {
		running <- true
		begin(i)
		group.Add(1)
		go func() {
			results[i] = f.verify()
			<-running
			group.Done()
		}()
	}
	group.Wait()
	excusePrefixes(results)
	return results
}

// excusePrefixes finds the tables of a Pebble database whose filters have prefixes of the keys: its
// comparer has a Split of its own then, whatever its name. Tables of few keys go with the others.
func excusePrefixes(results []*Result) {
	evidence := 0.0
	for _, r := range results {
		if r.prefixed {
			evidence += r.evidence
		}
	}
	for _, r := range results {
		if r.prefixed && evidence > math.Log(1000) {
			r.Status, r.FalseNegatives, r.Lost = Unverified, 0, nil
			r.Reason = "its filter has prefixes of the keys: the comparer has a Split of its own"
		}
	}
}

func (f File) verify() *Result {
	r := &Result{Path: f.Path}
	var file tableFile
	err := Guard(func() (err error) {
		if file, err = openFile(f.Open, f.Size); err != nil {
			return err
		}
		defer file.Close()
		t, err := f.open(file, r)
		if err != nil {
			return err
		}
		return r.survey(t, f.Database)
	})
	if errors.Is(err, errCompression) && file.format == magic.RocksDB {
		err = errRocksDB
	}
	if err != nil {
		return f.failed(err)
	}
	return r
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
	case is(errRocksDB):
		r.Status, r.Reason = Unverified, errRocksDB.Error()
	case is(errNotRead), is(sstable.ErrCompression), is(sstable.ErrTooLarge):
		// Its bytes may be right.
	case corrupt != nil, is(errCrashed), is(errNoTable) && tableName.MatchString(f.Path):
		r.Status = Corrupt
	}
	return r
}

var tableName = regexp.MustCompile(`(?i)\.(ldb|sst)$`)

// WithoutPath is the text of an error without the path, which stands before it already.
func WithoutPath(err error, path string) string {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == path {
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}

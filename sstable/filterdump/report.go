package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// A report is the whole output. Its JSON is that of --json.
type report struct {
	Verdict string             `json:"verdict"`
	Paths   []*census.Database `json:"paths"`
	Tables  []*scan.Result     `json:"tables"` // of all PATHs, in their order

	counts  map[scan.Status]int // tables by status
	matched int64               // entries of sound tables
	lost    int64               // entries whose filter does not match them
	unread  int                 // PATHs that could not be read
	unnamed int                 // tables that are left out
}

// newReport adds up what was read.
func newReport(databases []*census.Database) *report {
	r := &report{Paths: databases, Tables: []*scan.Result{}, counts: map[scan.Status]int{}}
	for _, d := range databases {
		if d.Note != "" {
			r.unread++
		}
		r.unnamed += d.Unnamed
		r.Tables = append(r.Tables, d.Tables...)
	}
	for _, t := range r.Tables {
		r.counts[t.Status]++
		switch t.Status {
		case scan.FalseNegative:
			r.lost += t.FalseNegatives
		case scan.Sound:
			r.matched += t.Entries - t.Unfiltered
		}
	}
	r.Verdict = r.verdict()
	return r
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// exitStatus is that of the program.
func (r *report) exitStatus() int {
	n := r.counts
	switch {
	case r.isFaulty():
		return exitFault
	case r.unread+n[scan.Unreadable]+n[scan.Unsupported]+n[scan.Unverified]+n[scan.Unfinished] > 0:
		return exitCannotRun
	}
	return exitSound
}

func (r *report) isFaulty() bool { return r.counts[scan.FalseNegative]+r.counts[scan.Corrupt] > 0 }

// verdict is the first line of the output.
func (r *report) verdict() string {
	var parts []string
	for _, s := range []struct {
		status scan.Status
		words  string
	}{
		{scan.FalseNegative, "with false negatives: " +
			scan.Count(r.lost, "entry", "entries") + " not matched by their filter"},
		{scan.Corrupt, "corrupt"},
		{scan.Sound, "sound: all " + scan.Count(r.matched, "entry", "entries") +
			" match their filters"},
		{scan.NoFilter, "without filters"},
		{scan.Unverified, "unverified"},
		{scan.Unsupported, "that cannot be read here"},
		{scan.Unreadable, "unreadable"},
		{scan.Unfinished, "unfinished"},
		{scan.Vanished, "deleted by the database meanwhile"},
	} {
		if n := r.counts[s.status]; n > 0 {
			parts = append(parts, scan.Count(n, "table")+" "+s.words)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no tables")
	}
	if r.unnamed > 0 {
		parts = append(parts, scan.Count(r.unnamed, "table")+" left out, which no manifest names")
	}
	if r.unread > 0 {
		parts = append(parts, scan.Count(r.unread, "PATH")+" could not be read")
	}
	verdict := strings.Join(parts, "; ")
	if r.isFaulty() {
		verdict = "FAULTY: " + verdict
	}
	return verdict
}

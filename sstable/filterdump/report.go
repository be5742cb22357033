package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A report is the whole output, and that of -json.
type report struct {
	Verdict string     `json:"verdict"`
	Paths   []*Summary `json:"paths"`  // one for each PATH
	Tables  []*Result  `json:"tables"` // of all of them, in order
}

// A Summary adds up the tables of one PATH, or of all.
type Summary struct {
	Path    string         `json:"path,omitempty"`
	Note    string         `json:"note,omitempty"` // why there are no tables
	Tables  map[Status]int `json:"tables"`         // how many came out as what
	LeftOut int            `json:"left_out"`       // tables that -sample left out

	Policies    map[string]int `json:"policies,omitempty"`  // tables with filters of each name
	Encodings   map[string]int `json:"encodings,omitempty"` // filters of each encoding
	Size        int64          `json:"size"`                // of the tables in bytes
	Entries     int64          `json:"entries"`
	Keys        int64          `json:"keys"`
	FilterBytes int64          `json:"filter_bytes"`

	matched int64 // entries of sound tables
	lost    int64 // entries whose filter does not match them
	place   place
}

// newReport combines the results of the places' tables, in their order.
func newReport(places []place, results []*Result) *report {
	r := &report{Paths: []*Summary{}, Tables: results}
	for _, p := range places {
		s := &Summary{
			Path: p.path, Note: p.note, LeftOut: p.left, place: p, Tables: map[Status]int{},
			Policies: map[string]int{}, Encodings: map[string]int{},
		}
		for range p.tables {
			s.add(results[0])
			results = results[1:]
		}
		r.Paths = append(r.Paths, s)
	}
	r.Verdict = r.verdict()
	return r
}

func (s *Summary) add(r *Result) {
	s.Tables[r.Status]++
	s.Size += r.Size
	if r.Filter != nil {
		s.Policies[r.Policy]++
	}
	if r.Report == nil {
		return
	}
	for encoding, n := range r.Encodings {
		s.Encodings[encoding] += n
	}
	s.Entries += r.Entries
	s.Keys += r.Keys
	s.FilterBytes += r.Bytes
	s.lost += r.FalseNegatives
	if r.Status == Sound {
		s.matched += r.Entries - r.Unfiltered
	}
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// total adds up the tables of all PATHs, and counts the PATHs that could not be looked at.
func (r *report) total() (n map[Status]int, matched, lost int64, left, failed int) {
	n = map[Status]int{}
	for _, s := range r.Paths {
		for status, tables := range s.Tables {
			n[status] += tables
		}
		matched += s.matched
		lost += s.lost
		left += s.LeftOut
		if s.place.failed {
			failed++
		}
	}
	return n, matched, lost, left, failed
}

// verified is the exit status of -verify.
func (r *report) verified() int {
	n, _, _, _, failed := r.total()
	switch {
	case n[FalseNegative]+n[Corrupt] > 0:
		return exitFault
	case failed+n[Unreadable]+n[Unsupported]+n[Unverified]+n[Unfinished] > 0:
		return exitCannotRun
	}
	return exitSound
}

// looked is the exit status without -verify: whether there was something to look at, or to show for
// a key.
func (r *report) looked(key bool) int {
	for _, t := range r.Tables {
		if t.KeyText != "" || !key && t.Status != Unreadable {
			return exitSound
		}
	}
	if _, _, _, _, failed := r.total(); failed+len(r.Tables) > 0 {
		return exitCannotRun
	}
	return exitSound
}

// verdict is the first line of the output.
func (r *report) verdict() string {
	n, matched, lost, left, failed := r.total()
	var parts []string
	say := func(number int, format string, args ...any) {
		if number > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	tables := func(status Status, what string) {
		say(n[status], "%s %s", count(n[status], "table"), what)
	}
	tables(FalseNegative, "with false negatives: "+count(lost, "entry", "entries")+
		" not matched by their filter")
	tables(Corrupt, "corrupt")
	tables(Sound, "sound: all "+count(matched, "entry", "entries")+" match their filters")
	tables(NoFilter, "without filters")
	tables(Unverified, "unverified")
	tables(Unsupported, "of formats that cannot be read here")
	tables(Unreadable, "unreadable")
	tables(Unfinished, "unfinished")
	tables(Vanished, "deleted by the database meanwhile")
	say(left, "%s left out by -sample", count(left, "table"))
	if len(parts) == 0 {
		parts = append(parts, "no tables")
	}
	say(failed, "%s could not be looked at", count(failed, "PATH"))
	verdict := strings.Join(parts, "; ")
	if n[FalseNegative]+n[Corrupt] > 0 {
		verdict = "FAULTY: " + verdict
	}
	return verdict
}

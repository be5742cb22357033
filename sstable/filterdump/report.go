package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// A report is the whole output, and that of -json.
type report struct {
	Verdict string     `json:"verdict"`
	Paths   []*Summary `json:"paths"`            // one for each PATH
	Tables  []*Result  `json:"tables"`           // of all of them, in order
	Advice  string     `json:"advice,omitempty"` // which kind of filter suits the keys

	total  *Summary
	failed int // PATHs that could not be looked at
}

// A Summary adds up the tables of one PATH, or of all.
type Summary struct {
	Path   string         `json:"path,omitempty"`
	Note   string         `json:"note,omitempty"` // why there are no tables
	Tables map[Status]int `json:"tables"`         // how many came out as what

	analysis.Totals

	matched int64 // entries of sound tables
	lost    int64 // entries whose filter does not match them
	place   place
}

// newReport combines the results of the places' tables, in their order.
func newReport(places []place, results []*Result) *report {
	r := &report{Paths: []*Summary{}, Tables: results, total: newSummary(place{})}
	for _, p := range places {
		s := newSummary(p)
		for range p.tables {
			s.add(results[0])
			r.total.add(results[0])
			results = results[1:]
		}
		r.Paths = append(r.Paths, s)
		if p.failed {
			r.failed++
		}
	}
	r.Verdict = r.verdict()
	r.Advice = r.total.Advice()
	return r
}

func newSummary(p place) *Summary {
	return &Summary{
		Path: p.path, Note: p.note, place: p, Tables: map[Status]int{},
	}
}

func (s *Summary) add(r *Result) {
	s.Tables[r.Status]++
	policy := ""
	if r.Filter != nil {
		policy = r.Policy
	}
	s.Add(policy, r.Size, r.Report)
	if r.Report == nil {
		return
	}
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

// verified is the exit status of -verify.
func (r *report) verified() int {
	n := r.total.Tables
	unverified := n[Unreadable] + n[NotTable] + n[Unsupported] + n[Unverified] + n[Unfinished]
	switch {
	case r.faulty():
		return exitFault
	case r.failed+unverified > 0:
		return exitCannotRun
	}
	return exitSound
}

func (r *report) faulty() bool { return r.total.Tables[FalseNegative]+r.total.Tables[Corrupt] > 0 }

// looked is the exit status without -verify: whether there was something to look at, or to show for
// a key.
func (r *report) looked(key bool) int {
	if !key && r.faulty() {
		return exitFault
	}
	for _, t := range r.Tables {
		if t.KeyText != "" || !key && t.Status != Unreadable && t.Status != NotTable {
			return exitSound
		}
	}
	if r.failed+len(r.Tables) > 0 {
		return exitCannotRun
	}
	return exitSound
}

// verdict is the first line of the output.
func (r *report) verdict() string {
	n := r.total.Tables
	var parts []string
	for _, s := range []struct {
		status Status
		words  string
	}{
		{FalseNegative, "with false negatives: " +
			analysis.Count(r.total.lost, "entry", "entries") + " not matched by their filter"},
		{Corrupt, "corrupt"},
		{Sound, "sound: all " + analysis.Count(r.total.matched, "entry", "entries") +
			" match their filters"},
		{NoFilter, "without filters"},
		{Unverified, "unverified"},
		{Unsupported, "that cannot be read here"},
		{Unreadable, "unreadable"},
		{NotTable, "without a table's end"},
		{Unfinished, "unfinished"},
		{LeftOver, "left over: no manifest names it"},
		{Vanished, "deleted by the database meanwhile"},
	} {
		if what := "table"; n[s.status] > 0 {
			if s.status == NotTable {
				what = "file"
			}
			parts = append(parts, analysis.Count(n[s.status], what)+" "+s.words)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no tables")
	}
	if r.failed > 0 {
		parts = append(parts, analysis.Count(r.failed, "PATH")+" could not be looked at")
	}
	verdict := strings.Join(parts, "; ")
	if r.faulty() {
		verdict = "FAULTY: " + verdict
	}
	return verdict
}

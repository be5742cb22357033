package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// A report is the whole output, and that of -json.
type report struct {
	Verdict string         `json:"verdict"`
	Paths   []place        `json:"paths"`
	Total   summary        `json:"total"`
	Tables  []*scan.Result `json:"tables"` // of all PATHs, in their order

	failed  int // PATHs without tables
	unnamed int // tables that are left out
}

// A summary adds up the tables.
type summary struct {
	Tables map[scan.Status]int `json:"tables"` // how many came out as what
	analysis.Totals

	matched int64 // entries of sound tables
	lost    int64 // entries whose filter does not match them
}

// newReport combines the results of the places' tables, in their order.
func newReport(places []place, results []*scan.Result) *report {
	r := &report{Paths: places, Tables: results, Total: summary{Tables: map[scan.Status]int{}}}
	for _, p := range places {
		if p.Note != "" {
			r.failed++
		}
		r.unnamed += p.Unnamed
	}
	for _, t := range results {
		r.Total.add(t)
	}
	r.Verdict = r.verdict()
	return r
}

func (s *summary) add(r *scan.Result) {
	s.Tables[r.Status]++
	s.Add(&r.Info, r.Report)
	if r.Report == nil {
		return
	}
	s.lost += r.FalseNegatives
	if r.Status == scan.Sound {
		s.matched += r.Entries - r.Unfiltered
	}
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// exitStatus is that of the program.
func (r *report) exitStatus() int {
	n := r.Total.Tables
	unverified := n[scan.Unreadable] + n[scan.Unsupported] + n[scan.Unverified] + n[scan.Unfinished]
	switch {
	case r.faulty():
		return exitFault
	case r.failed+unverified > 0:
		return exitCannotRun
	}
	return exitSound
}

func (r *report) faulty() bool {
	return r.Total.Tables[scan.FalseNegative]+r.Total.Tables[scan.Corrupt] > 0
}

// verdict is the first line of the output.
func (r *report) verdict() string {
	n := r.Total.Tables
	var parts []string
	for _, s := range []struct {
		status scan.Status
		words  string
	}{
		{scan.FalseNegative, "with false negatives: " +
			analysis.Count(r.Total.lost, "entry", "entries") + " not matched by their filter"},
		{scan.Corrupt, "corrupt"},
		{scan.Sound, "sound: all " + analysis.Count(r.Total.matched, "entry", "entries") +
			" match their filters"},
		{scan.NoFilter, "without filters"},
		{scan.Unverified, "unverified"},
		{scan.Unsupported, "that cannot be read here"},
		{scan.Unreadable, "unreadable"},
		{scan.Unfinished, "unfinished"},
		{scan.Vanished, "deleted by the database meanwhile"},
	} {
		if n[s.status] > 0 {
			parts = append(parts, analysis.Count(n[s.status], "table")+" "+s.words)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no tables")
	}
	if r.unnamed > 0 {
		parts = append(parts, analysis.Count(r.unnamed, "table")+" left out, which no manifest names")
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

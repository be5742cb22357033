package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// A report is the whole output, and that of -json.
type report struct {
	Verdict string     `json:"verdict"`
	Paths   []*Summary `json:"paths"`  // one for each PATH
	Tables  []*Result  `json:"tables"` // of all of them, in order

	total  *Summary
	failed int // PATHs that could not be looked at
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
	between mean  // FPR of the tables with filters, by their keys
	random  mean
	place   place
}

// A mean is a weighted one.
type mean struct{ sum, weight float64 }

func (m *mean) add(r analysis.Rate, weight int64) {
	if r.Asked > 0 {
		m.sum += r.Rate * float64(weight)
		m.weight += float64(weight)
	}
}

func (m mean) value() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.sum / m.weight
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
		r.total.LeftOut += p.left
		if p.failed {
			r.failed++
		}
	}
	r.Verdict = r.verdict()
	return r
}

func newSummary(p place) *Summary {
	return &Summary{
		Path: p.path, Note: p.note, LeftOut: p.left, place: p, Tables: map[Status]int{},
		Policies: map[string]int{}, Encodings: map[string]int{},
	}
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
	s.between.add(r.Between, r.Keys)
	s.random.add(r.Random, r.Keys)
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
	case r.failed+r.total.LeftOut+unverified > 0:
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
	say := func(number int, format string, args ...any) {
		if number > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	tables := func(status Status, what string) {
		say(n[status], "%s %s", analysis.Count(n[status], "table"), what)
	}
	tables(FalseNegative, "with false negatives: "+analysis.Count(r.total.lost, "entry", "entries")+
		" not matched by their filter")
	tables(Corrupt, "corrupt")
	matched := analysis.Count(r.total.matched, "entry", "entries")
	tables(Sound, "sound: all "+matched+" match their filters")
	tables(NoFilter, "without filters")
	tables(Unverified, "unverified")
	tables(Unsupported, "that cannot be read here")
	tables(Unreadable, "unreadable")
	say(n[NotTable], "%s",
		analysis.Count(n[NotTable], "file that is not a table", "files that are not tables"))
	tables(Unfinished, "unfinished")
	tables(LeftOver, "left over: no manifest names it")
	tables(Vanished, "deleted by the database meanwhile")
	say(r.total.LeftOut, "%s left out by -sample", analysis.Count(r.total.LeftOut, "table"))
	if len(parts) == 0 {
		parts = append(parts, "no tables")
	}
	say(r.failed, "%s could not be looked at", analysis.Count(r.failed, "PATH"))
	verdict := strings.Join(parts, "; ")
	if r.faulty() {
		verdict = "FAULTY: " + verdict
	}
	return verdict
}

package main

import (
	"encoding/json"
	"io"
)

// A report is the whole output, and that of -json.
type report struct {
	Verdict string     `json:"verdict"`
	Paths   []*Summary `json:"paths"`  // one for each PATH
	Tables  []*Result  `json:"tables"` // of all of them, in order
}

// newReport puts the results of the places' tables, in their order, together.
func newReport(places []place, results []*Result) *report {
	r := &report{Paths: []*Summary{}, Tables: results}
	for _, p := range places {
		s := newSummary(p)
		for range p.tables {
			s.add(results[0])
			results = results[1:]
		}
		r.Paths = append(r.Paths, s)
	}
	r.Verdict = verdict(r.Paths)
	return r
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

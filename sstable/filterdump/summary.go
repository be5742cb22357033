package main

import (
	"fmt"
	"strings"
)

// A Summary adds up the tables of one PATH, or of all.
type Summary struct {
	Path    string         `json:"path,omitempty"`
	Note    string         `json:"note,omitempty"` // why there are no tables
	Tables  map[Status]int `json:"tables"`         // how many came out as what
	LeftOut int            `json:"left_out"`       // tables that -sample left out

	Policies    map[string]int `json:"policies,omitempty"`  // how many tables have filters under which name
	Encodings   map[string]int `json:"encodings,omitempty"` // how many filters with keys are of which encoding
	Size        int64          `json:"size"`                // of the tables in bytes
	Entries     int64          `json:"entries"`
	Keys        int64          `json:"keys"`
	FilterBytes int64          `json:"filter_bytes"`
	verified    int64          // entries of sound tables
	lost        int64          // entries whose filter does not match them
	failed      bool           // the PATH could not be looked at

	directory bool
}

func newSummary(p place) *Summary {
	return &Summary{Path: p.path, Note: p.note, failed: p.failed, LeftOut: p.left, directory: p.directory, Tables: map[Status]int{}, Policies: map[string]int{}, Encodings: map[string]int{}}
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
		s.verified += r.Entries - r.Unfiltered
	}
}

// count returns the number of tables that were looked at.
func (s *Summary) count() (n int) {
	for _, tables := range s.Tables {
		n += tables
	}
	return n
}

// exitStatus is that of -verify.
func exitStatus(all []*Summary) int {
	status := exitSound
	for _, s := range all {
		if s.Tables[FalseNegative]+s.Tables[Corrupt] > 0 {
			return exitFault
		}
		if s.failed || s.Tables[Unreadable]+s.Tables[Unsupported]+s.Tables[Unverified] > 0 {
			status = exitCannotRun
		}
	}
	return status
}

// verdict is the first line of the output.
func verdict(all []*Summary) string {
	total, failed := newSummary(place{}), 0
	for _, s := range all {
		for status, n := range s.Tables {
			total.Tables[status] += n
		}
		total.verified += s.verified
		total.lost += s.lost
		total.LeftOut += s.LeftOut
		if s.failed {
			failed++
		}
	}
	n := total.Tables
	var parts []string
	say := func(count int, format string, args ...any) {
		if count > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(n[FalseNegative], "%s with false negatives: %s do not match their filter", count(n[FalseNegative], "table"), count(total.lost, "entry", "entries"))
	say(n[Corrupt], "%s corrupt", count(n[Corrupt], "table"))
	say(n[Sound], "%s sound: all %s match their filters", count(n[Sound], "table"), count(total.verified, "entry", "entries"))
	say(n[NoFilter], "%s without filters", count(n[NoFilter], "table"))
	say(n[Unverified], "%s unverified", count(n[Unverified], "table"))
	say(n[Unsupported], "%s of formats that cannot be read here", count(n[Unsupported], "table"))
	say(n[Unreadable], "%s unreadable", count(n[Unreadable], "table"))
	say(n[Vanished], "%s deleted by the database meanwhile", count(n[Vanished], "table"))
	say(n[Unfinished], "%s still being written", count(n[Unfinished], "table"))
	say(total.LeftOut, "%s left out by -sample", count(total.LeftOut, "table"))
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

package main

import (
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// A report is the whole output. Its JSON is that of --json.
type report struct {
	Verdict string             `json:"verdict"` // whether all is sound
	Paths   []*census.Database `json:"paths"`

	status int // the exit status
}

// newReport adds up what was read.
func newReport(databases []*census.Database) *report {
	r := &report{Paths: databases}
	counts := map[verify.Status]int{} // tables
	damaged, unread, unnamed := 0, 0, 0
	for _, d := range databases {
		unnamed += d.Unnamed
		switch {
		case d.Damaged:
			damaged++
		case d.Note != "":
			unread++
		}
		for _, t := range d.Tables {
			counts[t.Status]++
		}
	}
	var parts []string
	say := func(n int, unit, words string) {
		if n > 0 {
			parts = append(parts, count(n, unit)+" "+words)
		}
	}
	say(damaged, "database", "damaged")
	for _, s := range verify.Statuses {
		say(counts[s], "table", string(s))
		if counts[s] > 0 && !s.IsFine() {
			unread++
		}
		if s.IsFault() {
			damaged += counts[s]
		}
	}
	say(unnamed, "table", "left out, which no manifest names")
	r.Verdict = strings.Join(parts, "; ")
	switch {
	case damaged > 0:
		r.Verdict, r.status = "FAULTY: "+r.Verdict, exitFault
	case unread > 0:
		r.status = exitCannotRun
	}
	return r
}

// count writes a number with its unit: "1 table", "2 tables".
func count(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return verdict.Thousands(int64(n)) + " " + unit
}

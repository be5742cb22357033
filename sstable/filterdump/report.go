package main

import (
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// A report is the whole output. Its JSON is that of --json.
type report struct {
	Verdict string             `json:"verdict"`
	Paths   []*census.Database `json:"paths"`

	counts  map[scan.Status]int // tables by status
	matched int64               // entries of sound tables
	lost    int64               // entries whose filter does not match them
	damaged int                 // databases that are damaged
	unread  int                 // PATHs of which not all could be read
	unnamed int                 // tables that are left out
}

// newReport adds up what was read.
func newReport(databases []*census.Database) *report {
	r := &report{Paths: databases, counts: map[scan.Status]int{}}
	for _, d := range databases {
		switch {
		case d.Damaged:
			r.damaged++
		case d.Note != "":
			r.unread++
		}
		r.unnamed += d.Unnamed
		for _, t := range d.Tables {
			r.counts[t.Status]++
			switch t.Status {
			case scan.FalseNegative:
				r.lost += t.FalseNegatives
			case scan.Sound:
				r.matched += t.Entries - t.Unfiltered
			}
		}
	}
	r.Verdict = r.verdict()
	return r
}

// exitStatus is that of the program.
func (r *report) exitStatus() int {
	switch {
	case r.isFaulty():
		return exitFault
	case r.unread+r.counts[scan.Unreadable]+r.counts[scan.Unverified] > 0:
		return exitCannotRun
	}
	return exitSound
}

func (r *report) isFaulty() bool {
	return r.damaged+r.counts[scan.FalseNegative]+r.counts[scan.Corrupt]+r.counts[scan.Missing] > 0
}

// verdict is the first line of the output.
func (r *report) verdict() string {
	var parts []string
	say := func(n int, unit, words string) {
		if n > 0 {
			parts = append(parts, scan.Count(n, unit)+" "+words)
		}
	}
	n := r.counts
	say(r.damaged, "database", "damaged")
	say(n[scan.FalseNegative], "table", "with false negatives: "+
		scan.Count(r.lost, "entry")+" not matched by their filter")
	say(n[scan.Corrupt], "table", "corrupt")
	say(n[scan.Missing], "table", "missing")
	say(n[scan.Sound], "table", "sound: all "+scan.Count(r.matched, "entry")+
		" match their filters")
	say(n[scan.NoFilter], "table", "without filters")
	say(n[scan.Unverified], "table", "unverified")
	say(n[scan.Unreadable], "table", "unreadable")
	if len(parts) == 0 && r.unread == 0 {
		parts = append(parts, "no tables")
	}
	say(r.unnamed, "table", "left out, which no manifest names")
	say(r.unread, "PATH", "could not be read")
	verdict := strings.Join(parts, "; ")
	if r.isFaulty() {
		verdict = "FAULTY: " + verdict
	}
	return verdict
}

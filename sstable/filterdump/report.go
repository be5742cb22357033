package main

import (
	"fmt"
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
	tables := map[verify.Status]int{}
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
			tables[t.Status]++
		}
	}
	var parts []string
	say := func(n int, unit, words string) {
		if n > 1 {
			unit += "s"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s", verdict.Thousands(int64(n)), unit, words))
		}
	}
	say(damaged, "database", "damaged")
	for _, s := range verify.Statuses {
		say(tables[s], "table", string(s))
		if s.IsFault() {
			damaged += tables[s]
		} else if !s.IsFine() {
			unread += tables[s]
		}
	}
	say(unnamed, "table", "left out, which no manifest names")
	if r.Verdict = strings.Join(parts, "; "); r.Verdict == "" && unread == 0 {
		r.Verdict = "no tables"
	}
	switch {
	case damaged > 0:
		r.Verdict, r.status = "FAULTY: "+r.Verdict, exitFault
	case unread > 0:
		r.status = exitCannotRun
	}
	return r
}

package page

import (
	"fmt"

	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// Counted returns what filterdump says of the database at a path.
func Counted(path string, v *verdict.Verdict) Card {
	shown := Card{About: path, Sentence: v.Sentence, Code: v.Code, Facts: v.Facts}
	if v.Why == "" && v.Lookups > 0 {
		shown.Pictures = []Picture{reads(v)}
	}
	return shown
}

// reads has a row for each level.
func reads(v *verdict.Verdict) Picture {
	const change = " with the change"
	p := Picture{Title: "Data blocks read for 1,000 lookups of absent keys, by level (counted"}
	if len(v.Code) > 1 { // one line calls Has, which is counted too
		p.Title += ";" + change + ": computed"
	}
	p.Title += ")"
	for _, l := range v.Levels {
		row := Row{fmt.Sprintf("L%d, %d tables", l.Number, l.Tables),
			[]Bar{{l.Now, report.Digits(l.Now) + " now"}}}
		if l.Unfiltered == l.Tables {
			row.Label += " without filters"
		}
		if len(v.Code) > 0 {
			row.Bars = append(row.Bars, Bar{l.Then, report.Digits(l.Then) + change})
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

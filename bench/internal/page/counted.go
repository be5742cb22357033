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
		shown.Pictures = []Picture{reads(v), memory(v)}
	}
	return shown
}

const change = " with the change"

// reads has a row for each level, and below it one for its tables without filters.
func reads(v *verdict.Verdict) Picture {
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
		if l.Unfiltered > 0 && l.Unfiltered < l.Tables {
			row := Row{fmt.Sprintf("of them %d without filters", l.Unfiltered),
				[]Bar{{l.ReadUnfiltered, report.Digits(l.ReadUnfiltered) + " of these now"}}}
			if len(v.Code) > 0 {
				then := 0.0 // all tables of the level have filters
				if l.Then == l.Now || l.ThenBytes == float64(l.FilterBytes) {
					then = l.ReadUnfiltered // the level keeps its filters
				}
				row.Bars = append(row.Bars, Bar{then, report.Digits(then) + " of these" + change})
			}
			p.Rows = append(p.Rows, row)
		}
	}
	return p
}

// memory has what should fit into the block cache, and the cache.
func memory(v *verdict.Verdict) Picture {
	bar := func(bytes float64, text string) Bar {
		return Bar{bytes, report.Digits(bytes/1e6) + " MB" + text}
	}
	now := v.Sum(func(l *verdict.Level) float64 { return float64(l.FilterBytes) })
	then := v.Sum(func(l *verdict.Level) float64 { return l.ThenBytes })
	filters := Row{"filters", []Bar{bar(now, " now")}}
	if then != now {
		filters.Bars = append(filters.Bars, bar(then, change+" (computed)"))
	}
	p := Picture{"What the filters take beside the block cache", []Row{filters,
		{"indexes", []Bar{bar(float64(v.IndexBytes), "")}}}}
	if v.Cache > 0 {
		p.Rows = append(p.Rows, Row{"block cache", []Bar{bar(float64(v.Cache), "")}})
	}
	return p
}

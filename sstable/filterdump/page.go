package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/page"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
)

// page returns what people are shown, as text or in HTML, with all tables or those at fault.
func (r *report) page(allTables bool) page.Page {
	p := page.Page{Title: r.Verdict, Faulty: r.isFaulty()}
	for _, d := range r.Paths {
		shown := page.Database{Path: scan.Printable(d.Path), Note: scan.Printable(d.Note),
			Levels: levelRows(d), Tables: tableRows(d, allTables || d.Figures == nil)}
		if v := d.Verdict; v != nil {
			shown.Bars, shown.Sentence = bars(v.Rows), scan.Printable(v.Sentence)
			shown.Code, shown.Facts = v.Code, v.Facts
			shown.Counted = fmt.Sprintf("of up to %d absent keys between %d keys, no data in the cache",
				d.Lookups, d.Sampled)
		}
		p.Databases = append(p.Databases, shown)
	}
	return p
}

// bars returns a bar for each row, the longest for the most reads.
func bars(rows []verdict.Row) (all []page.Bar) {
	most := 0.0
	for _, row := range rows {
		most = max(most, row.Reads)
	}
	for _, row := range rows {
		b := page.Bar{Label: row.Setup, Reads: verdict.Digits(row.Reads) + " " + row.Source(),
			Filters: verdict.Megabytes(row.FilterBytes)}
		if most > 0 {
			b.Part = row.Reads / most
		}
		all = append(all, b)
	}
	return all
}

// levelRows has a row for each level of a database.
func levelRows(d *census.Database) (t page.Table) {
	if d.Figures == nil {
		return t
	}
	for _, l := range d.Levels {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("L%d", l.Number), fmt.Sprint(l.Tables),
			fmt.Sprint(l.Entries), verdict.Digits(l.FilterBytes / 1e6), tally(l.Filters),
			tally(l.Policies)})
	}
	t.Header = []string{"level", "tables", "entries", "MB of filters", "filters", "policy"}
	return t
}

// tally writes how often each name is there: "12 ribbon, 3 none".
func tally(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], scan.Printable(name)))
	}
	return strings.Join(parts, ", ")
}

// tableRows has a row for each table, or for the first ones at fault.
func tableRows(d *census.Database, all bool) (t page.Table) {
	const most = 20 // where one reason holds for all tables
	for _, r := range d.Tables {
		fine := r.Status == scan.Sound || r.Status == scan.NoFilter
		if !all && (fine || len(t.Rows) == most) {
			continue
		}
		row := []string{scan.Printable(filepath.Base(r.Path)), "", "", "", "", string(r.Status),
			scan.Printable(r.Reason)}
		if r.Report != nil {
			row[3] = fmt.Sprint(r.Entries)
		}
		if r.Report != nil && r.Filters != nil {
			row[1], row[2] = scan.Printable(r.Policy), r.Kinds()
			row[4] = fmt.Sprintf("%.1f", r.BitsPerKey)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Header = []string{
		"table", "policy", "encoding", "entries", "bits/key", "verification", "reason"}
	return t
}

package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/page"
)

// width is that of the text: it fits 100 columns with an indentation.
const width = 96

// A textWriter collects the report for people.
type textWriter struct{ strings.Builder }

// asText returns a page as text.
func asText(p page.Page) string {
	b := &textWriter{}
	b.wrapped("", "", p.Title)
	for _, d := range p.Databases {
		fmt.Fprintf(b, "\n%s\n", d.Path)
		if d.Note != "" {
			b.wrapped("  ", "  ", d.Note)
		}
		if d.Sentence != "" {
			b.verdict(d)
		}
		b.table(d.Levels.Header, d.Levels.Rows)
		b.tables(d.Tables)
	}
	return b.String()
}

// wrapped writes s in lines, the first after one prefix, the others after another of the same
// width.
func (b *textWriter) wrapped(first, others, s string) {
	for _, line := range strings.Split(text.WrapSoft(s, width-len(first)), "\n") {
		fmt.Fprintln(b, first+strings.TrimRight(line, " ")) // WrapSoft fills lines with spaces
		first = others
	}
}

// table writes rows in columns.
func (b *textWriter) table(header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	columns := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "  "+strings.Join(header, "\t"))
	for _, row := range rows {
		fmt.Fprintln(columns, "  "+strings.Join(row, "\t"))
	}
	columns.Flush()
}

// tables writes the reasons, the last column, below the table: they are long.
func (b *textWriter) tables(t page.Table) {
	last := len(t.Header) - 1
	var rows [][]string
	for _, row := range t.Rows {
		rows = append(rows, row[:last])
	}
	b.table(t.Header[:last], rows)
	for _, row := range t.Rows {
		if row[last] != "" {
			b.wrapped("  ", "    ", fmt.Sprintf("%s: %s: %s", row[0], row[last-1], row[last]))
		}
	}
}

// verdict writes what filters are worth to a database.
func (b *textWriter) verdict(d page.Database) {
	if len(d.Bars) > 0 {
		b.bars(d.Bars)
		fmt.Fprintf(b, "  (%s)\n\n", d.Counted)
	}
	b.wrapped("  ", "  ", d.Sentence)
	for _, line := range d.Code {
		fmt.Fprintln(b, "      "+line)
	}
	for _, fact := range d.Facts {
		b.wrapped("  - ", "    ", fact)
	}
	fmt.Fprintln(b)
}

func (b *textWriter) bars(bars []page.Bar) {
	const longest = 36
	var rows [][]string
	for _, bar := range bars {
		length := int(math.Round(longest * bar.Part))
		drawn := cmp.Or(strings.Repeat("█", length), "▏")
		rows = append(rows, []string{bar.Label, drawn + " " + bar.Reads, bar.Filters})
	}
	b.table([]string{"", "data blocks read for 1,000 absent keys", "filters"}, rows)
}

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// widthOf returns how wide the text on w may be: as the terminal, or 96 columns.
func widthOf(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return max(width, 60)
		}
	}
	return 96 // so that it fits 100 with an indentation
}

// A textWriter collects the report for people.
type textWriter struct {
	strings.Builder
	width int
}

// writeText writes the verdict, then each PATH. Tables are described at length if there are few, if
// they are named or if long is set, and otherwise in a line each.
func (r *report) writeText(w io.Writer, long bool, width int) error {
	const few = 3
	long = long || len(r.Tables) <= few
	b := &textWriter{width: width}
	b.wrapped("", "", r.Verdict)
	rest := r.Tables
	for _, s := range r.Paths {
		results := rest[:len(s.place.tables)]
		rest = rest[len(results):]
		switch {
		case s.Note != "":
			fmt.Fprintf(b, "\n%s\n", printable(s.Path))
			b.wrapped("  ", "  ", s.Note)
		case long || !s.place.directory:
			for _, t := range results {
				b.describe(t)
			}
		default:
			b.heading(s)
			b.rows(results)
		}
	}
	if !long && r.total.random.weight > 0 {
		b.WriteString(legend)
	}
	if len(r.Tables) > few {
		b.totals(r.total)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `
FPP %: estimated from the filters alone. between %, random %: the FPR of absent
keys between the table's own, and of random bytes. -long tells more.
`

// printable returns s with escapes for what is not printable, which a terminal could take for a
// command: names from the disk can have any bytes.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			escaped := strconv.QuoteRune(r)
			b.WriteString(escaped[1 : len(escaped)-1])
		}
	}
	return b.String()
}

// wrapped writes s in lines, the first after one prefix, the others after another of the same
// width.
func (b *textWriter) wrapped(first, others, s string) {
	for _, line := range strings.Split(text.WrapSoft(printable(s), b.width-len(first)), "\n") {
		fmt.Fprintln(b, first+strings.TrimRight(line, " ")) // WrapSoft fills lines with spaces
		first = others
	}
}

// line writes a labeled line of a description.
func (b *textWriter) line(label, format string, args ...any) {
	const labels = "  %-12s "
	b.wrapped(fmt.Sprintf(labels, label), fmt.Sprintf(labels, ""), fmt.Sprintf(format, args...))
}

// describe writes all that is known about a table.
func (b *textWriter) describe(r *Result) {
	fmt.Fprintf(b, "\n%s\n", printable(r.Path))
	b.line("verification", "%s", r.verification())
	if r.Format != "" {
		comparer := ""
		if r.Comparer != "" {
			comparer = ", comparer " + r.Comparer
		}
		b.line("format", "%s%s, %s bytes", r.Format, comparer, analysis.Thousands(r.Size))
	}
	if r.Report == nil {
		return
	}
	if r.Entries > 0 || r.Status != Unverified { // else they could not be read
		keys := analysis.Count(r.Entries, "entry", "entries") + " of " +
			analysis.Count(r.Keys, "key")
		if r.KeyShape != "" {
			keys += ", " + r.KeyShape
		}
		b.line("keys", "%s", keys)
	}
	if r.Filter != nil {
		b.describeFilters(r)
	}
	for _, advice := range r.Advice {
		b.line("advice", "%s", advice)
	}
}

func (b *textWriter) describeFilters(r *Result) {
	name := r.Policy
	if encoding := r.Encoding(); encoding != "" {
		name += ", " + encoding
	}
	b.line("policy", "%s", name)
	if len(r.Others) > 0 {
		b.line("not examined", "%s", strings.Join(r.Others, ", "))
	}
	if r.Layout == layoutWindow {
		b.line("filters", "%s and %s empty, one for every %s bytes of data (base_lg %d); "+
			"%s bytes in all",
			analysis.Thousands(r.Filters), analysis.Thousands(r.Empty),
			analysis.Thousands(uint64(1)<<r.BaseLg), r.BaseLg,
			analysis.Thousands(r.Bytes))
	} else {
		b.line("filters", "one for the whole table, of %s bytes", analysis.Thousands(r.Bytes))
	}
	if len(r.Probes) > 0 {
		probes := strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Probes), "[]"), " ", ", ")
		b.line("bits", "%.2f per key, k = %s; %.1f %% of them set, as by %s keys",
			r.BitsPerKey, probes, 100*r.Fill, analysis.Thousands(int64(r.Distinct+0.5)))
	} else if r.BitsPerKey > 0 {
		b.line("bits", "%.2f per key", r.BitsPerKey)
	}
	if r.FPP != nil {
		b.line("FPP", "%s %%, estimated from the filters alone", percent(*r.FPP))
	}
	if r.Random.Asked > 0 {
		b.line("FPR", "%s",
			rateText(r.Between, r.BetweenUnasked, "absent keys between the table's own"))
		b.line("", "%s", rateText(r.Random, "", "random bytes"))
	}
}

// verification says what came out of comparing the keys with the filters.
func (r *Result) verification() string {
	switch r.Status {
	case Sound:
		return fmt.Sprintf("sound: all %s match their filters",
			analysis.Count(r.Entries-r.Unfiltered, "entry", "entries"))
	case FalseNegative:
		more := ""
		if r.FalseNegatives > int64(len(r.Lost)) {
			more = ", ..."
		}
		return fmt.Sprintf("FALSE NEGATIVES: %s of %s do not match their filter: %s%s",
			analysis.Thousands(r.FalseNegatives), analysis.Count(r.Entries, "entry", "entries"),
			strings.Join(r.Lost, ", "), more)
	case Corrupt:
		return "CORRUPT: " + r.Reason
	case NoFilter:
		return "no filter"
	default:
		return fmt.Sprintf("%s: %s", r.Status, r.Reason)
	}
}

// heading writes what the tables of a directory have in common.
func (b *textWriter) heading(s *Summary) {
	left := ""
	if s.LeftOut > 0 {
		left = fmt.Sprintf(" (-sample left out %s)", analysis.Count(s.LeftOut, "table"))
	}
	fmt.Fprintf(b, "\n%s: %s, %s, %s bytes of filters%s\n",
		printable(s.Path), analysis.Count(len(s.place.tables), "table"),
		analysis.Count(s.Entries, "entry", "entries"), analysis.Thousands(s.FilterBytes), left)
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		fmt.Fprintf(b, "  %s in %s\n", printable(name), analysis.Count(s.Policies[name], "table"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Encodings)) {
		fmt.Fprintf(b, "  %s of %s\n", analysis.Count(s.Encodings[name], "filter"), name)
	}
}

// rows writes a line for each table, what is wrong with any, and the advice for the table with the
// highest FPR.
func (b *textWriter) rows(results []*Result) {
	const others = 81 // columns of all but the name, at their usual width
	rows := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	rows.SetStyle(style)
	rows.SuppressTrailingSpaces()
	rows.SuppressEmptyColumns()
	rows.AppendHeader(table.Row{
		"table", "encoding", "entries", "bits/key", "FPP %", "between %", "random %",
		"verification"})
	columns := []table.ColumnConfig{{Number: 1, WidthMax: max(10, b.width-others)}}
	for number := 3; number <= 7; number++ {
		columns = append(columns, table.ColumnConfig{
			Number: number, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	rows.SetColumnConfigs(columns)
	for _, r := range results {
		rows.AppendRow(r.row(printable(filepath.Base(r.Path))))
	}
	fmt.Fprintln(b, rows.Render())
	var worst *Result
	for _, r := range results {
		if r.Status != Sound && r.Status != NoFilter {
			b.wrapped("", "  ", fmt.Sprintf("%s: %s", filepath.Base(r.Path), r.verification()))
		}
		if r.Report != nil && (worst == nil || r.Between.Rate > worst.Between.Rate) {
			worst = r
		}
	}
	if worst != nil && len(worst.Advice) > 0 {
		b.wrapped("", "", fmt.Sprintf("advice for %s, where the FPR between keys is highest "+
			"(-long has that for all):", filepath.Base(worst.Path)))
		for _, advice := range worst.Advice {
			b.wrapped("- ", "  ", advice)
		}
	}
}

// totals writes what all tables add up to.
func (b *textWriter) totals(s *Summary) {
	b.WriteString("\nall tables\n")
	number, statuses := 0, []string{}
	for _, status := range slices.Sorted(maps.Keys(s.Tables)) {
		number += s.Tables[status]
		statuses = append(statuses,
			fmt.Sprintf("%s %s", analysis.Thousands(s.Tables[status]), status))
	}
	b.line("tables", "%s: %s", analysis.Thousands(number), strings.Join(statuses, ", "))
	b.line("keys", "%s of %s", analysis.Count(s.Entries, "entry", "entries"),
		analysis.Count(s.Keys, "key"))
	without := ""
	if n := s.Tables[NoFilter]; n > 0 {
		without = fmt.Sprintf("; none in %s", analysis.Count(n, "table"))
	}
	b.line("filters", "%s bytes%s", analysis.Thousands(s.FilterBytes), without)
	if s.random.weight > 0 {
		b.line("FPR", "%s %% of absent keys between the tables' own, %s %% of random bytes; "+
			"weighted by the tables' keys",
			percent(s.between.value()), percent(s.random.value()))
	}
}

// row returns the columns of a table's line.
func (r *Result) row(name string) table.Row {
	row := table.Row{name, "", "", "", "", "", "", string(r.Status)}
	if r.Report == nil {
		return row
	}
	row[2] = analysis.Thousands(r.Entries)
	if r.Filter == nil {
		return row
	}
	row[1] = "several"
	if len(r.Encodings) < 2 {
		row[1] = r.Encoding()
	}
	row[3] = fmt.Sprintf("%.1f", r.BitsPerKey)
	if r.Random.Asked > 0 {
		row[5], row[6] = rateColumn(r.Between), rateColumn(r.Random)
	}
	if r.FPP != nil {
		row[4] = percent(*r.FPP)
	}
	return row
}

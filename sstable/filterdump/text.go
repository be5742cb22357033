package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// width is that of the text: it fits 100 columns with an indentation.
const width = 96

// A textWriter collects the report for people.
type textWriter struct{ strings.Builder }

// writeText writes the verdict, then each PATH. Tables are described at length if there are few or
// if they are named, and otherwise in a line each.
func (r *report) writeText(w io.Writer) error {
	const few = 3
	b := &textWriter{}
	b.wrapped("", "", r.Verdict)
	rest := r.Tables
	var verdicts []place
	for _, p := range r.Paths {
		results := rest[:len(p.tables)]
		rest = rest[len(results):]
		switch {
		case p.Note != "":
			fmt.Fprintf(b, "\n%s\n", analysis.Printable(p.Path))
			b.wrapped("  ", "  ", p.Note)
		case len(r.Tables) <= few || !p.directory:
			for _, t := range results {
				b.describe(t)
			}
		default:
			fmt.Fprintf(b, "\n%s\n", analysis.Printable(p.Path))
			b.rows(results)
		}
		if p.Verdict != nil {
			verdicts = append(verdicts, p)
		}
	}
	if len(r.Tables) > few {
		b.WriteString("\nall tables\n")
		b.sums(&r.Total)
	}
	for _, p := range verdicts {
		b.verdict(p.Path, p.Verdict)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapped writes s in lines, the first after one prefix, the others after another of the same
// width.
func (b *textWriter) wrapped(first, others, s string) {
	for _, line := range strings.Split(text.WrapSoft(analysis.Printable(s), width-len(first)), "\n") {
		fmt.Fprintln(b, first+strings.TrimRight(line, " ")) // WrapSoft fills lines with spaces
		first = others
	}
}

// line writes a labeled line of a description.
func (b *textWriter) line(label, format string, args ...any) {
	const labels = "  %-12s "
	b.wrapped(fmt.Sprintf(labels, label), fmt.Sprintf(labels, ""), analysis.Sprintf(format, args...))
}

// verdict writes what filters are worth to a database.
func (b *textWriter) verdict(path string, v *verdict.Verdict) {
	fmt.Fprintf(b, "\n%s\n", analysis.Printable(path))
	b.wrapped("  ", "  ", v.Sentence)
	for _, fact := range v.Facts {
		b.wrapped("  - ", "    ", fact)
	}
	for _, line := range v.Code {
		fmt.Fprintln(b, "      "+line)
	}
}

// describe writes all that is known about a table.
func (b *textWriter) describe(r *scan.Result) {
	fmt.Fprintf(b, "\n%s\n", analysis.Printable(r.Path))
	b.line("verification", "%s", verification(r))
	if r.Format != "" {
		comparer := ""
		if r.Comparer != "" {
			comparer = ", comparer " + r.Comparer
		}
		b.line("format", "%s%s, %d bytes", r.Format, comparer, r.Size)
	}
	if r.Report == nil {
		return
	}
	if r.Entries > 0 || r.Status != scan.Unverified { // else they could not be read
		keys := analysis.Count(r.Entries, "entry", "entries") + " of " +
			analysis.Count(r.Keys, "key")
		if r.Filters != nil && r.Unfiltered > 0 {
			keys += analysis.Sprintf("; no filter covers %d of the entries", r.Unfiltered)
		}
		b.line("keys", "%s", keys)
	}
	if r.Filters != nil {
		b.describeFilters(r)
	}
}

func (b *textWriter) describeFilters(r *scan.Result) {
	name := r.Policy
	if encoding := r.Encoding(); encoding != "" {
		name += ", " + encoding
	}
	b.line("policy", "%s", name)
	if len(r.Others) > 0 {
		b.line("not examined", "%s", strings.Join(r.Others, ", "))
	}
	if r.Layout == tables.PerWindow {
		b.line("filters", "%d and %d empty, one for every %d bytes of data (base_lg %d); "+
			"%d bytes in all", r.WithKeys, r.Empty, uint64(1)<<r.BaseLg, r.BaseLg, r.Bytes)
	} else {
		b.line("filters", "one for the whole table, of %d bytes", r.Bytes)
	}
	if r.BitsPerKey > 0 {
		b.line("bits", "%.2f per key", r.BitsPerKey)
	}
}

// verification says what came out of comparing the keys with the filters.
func verification(r *scan.Result) string {
	switch r.Status {
	case scan.Sound:
		return fmt.Sprintf("sound: all %s match their filters",
			analysis.Count(r.Entries-r.Unfiltered, "entry", "entries"))
	case scan.FalseNegative:
		more := ""
		if r.FalseNegatives > int64(len(r.Lost)) {
			more = ", ..."
		}
		return analysis.Sprintf("FALSE NEGATIVES: %d of %s do not match their filter: %s%s",
			r.FalseNegatives, analysis.Count(r.Entries, "entry", "entries"),
			strings.Join(r.Lost, ", "), more)
	case scan.Corrupt:
		return "CORRUPT: " + r.Reason
	case scan.NoFilter:
		return "no filter"
	default:
		return fmt.Sprintf("%s: %s", r.Status, r.Reason)
	}
}

// rows writes a line for each table, and what is wrong with any.
func (b *textWriter) rows(results []*scan.Result) {
	names := len("table")
	for _, r := range results {
		names = max(names, utf8.RuneCountInString(name(r)))
	}
	row := func(columns ...string) {
		line := fmt.Sprintf("%-*s  %-20s  %12s  %8s  %s", names, columns[0], columns[1],
			columns[2], columns[3], columns[4])
		fmt.Fprintln(b, line)
	}
	row("table", "encoding", "entries", "bits/key", "verification")
	for _, r := range results {
		row(columns(r)...)
	}
	for _, r := range results {
		if r.Status != scan.Sound && r.Status != scan.NoFilter {
			b.wrapped("", "  ", fmt.Sprintf("%s: %s", filepath.Base(r.Path), verification(r)))
		}
	}
}

// sums writes what tables add up to.
func (b *textWriter) sums(s *summary) {
	number, statuses := 0, []string{}
	for _, status := range slices.Sorted(maps.Keys(s.Tables)) {
		number += s.Tables[status]
		statuses = append(statuses, analysis.Sprintf("%d %s", s.Tables[status], status))
	}
	b.line("tables", "%d: %s", number, strings.Join(statuses, ", "))
	b.line("keys", "%s of %s", analysis.Count(s.Entries, "entry", "entries"),
		analysis.Count(s.Keys, "key"))
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		b.line("policy", "%s in %s", name, analysis.Count(s.Policies[name], "table"))
	}
	b.line("indexes", "%s", analysis.Count(s.IndexBytes, "byte"))
	filters := []string{analysis.Count(s.FilterBytes, "byte")}
	for _, name := range slices.Sorted(maps.Keys(s.Encodings)) {
		filters = append(filters, analysis.Sprintf("%d of %s", s.Encodings[name], name))
	}
	b.line("filters", "%s", strings.Join(filters, ", "))
}

func name(r *scan.Result) string { return analysis.Printable(filepath.Base(r.Path)) }

// row returns the columns of a table's line.
func columns(r *scan.Result) []string {
	row := []string{name(r), "", "", "", string(r.Status)}
	if r.Report == nil {
		return row
	}
	row[2] = analysis.Sprintf("%d", r.Entries)
	if r.Filters == nil {
		return row
	}
	row[1] = "several"
	if len(r.Encodings) < 2 {
		row[1] = r.Encoding()
	}
	row[3] = fmt.Sprintf("%.1f", r.BitsPerKey)
	return row
}

package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
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
	for _, p := range r.Paths {
		results := rest[:len(p.tables)]
		rest = rest[len(results):]
		switch {
		case p.Note != "":
			fmt.Fprintf(b, "\n%s\n", printable(p.Path))
			b.wrapped("  ", "  ", p.Note)
		case len(r.Tables) <= few || !p.directory:
			for _, t := range results {
				b.describe(t)
			}
		default:
			fmt.Fprintf(b, "\n%s\n", printable(p.Path))
			b.rows(results)
		}
	}
	if len(r.Tables) > few {
		b.WriteString("\nall tables\n")
		b.sums(&r.Total)
	}
	if t := r.Total; t.Between.Low > max(2*t.FPP, t.FPP+0.005) {
		b.WriteString("\n")
		b.wrapped("", "", advice)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// advice is for keys that have clearly more false positives than random ones.
const advice = "The keys suit policy.NewRibbon, whose filters only levelbloom reads, or " +
	"policy.WithTuning, whose filters every reader of LevelDB's reads. What that is worth: " +
	"go run github.com/levelbloom/levelbloom/bench@latest --keys DIRECTORY"

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
	for _, line := range strings.Split(text.WrapSoft(printable(s), width-len(first)), "\n") {
		fmt.Fprintln(b, first+strings.TrimRight(line, " ")) // WrapSoft fills lines with spaces
		first = others
	}
}

// line writes a labeled line of a description.
func (b *textWriter) line(label, format string, args ...any) {
	const labels = "  %-12s "
	b.wrapped(fmt.Sprintf(labels, label), fmt.Sprintf(labels, ""), analysis.Sprintf(format, args...))
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
		b.line("format", "%s%s, %d bytes", r.Format, comparer, r.Size)
	}
	if r.Report == nil {
		return
	}
	if r.Entries > 0 || r.Status != Unverified { // else they could not be read
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

func (b *textWriter) describeFilters(r *Result) {
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
	if len(r.Probes) > 0 {
		probes := strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Probes), "[]"), " ", ", ")
		b.line("bits", "%.2f per key, k = %s; %.1f %% of them set", r.BitsPerKey, probes, 100*r.Fill)
	} else if r.BitsPerKey > 0 {
		b.line("bits", "%.2f per key", r.BitsPerKey)
	}
	if r.FPP != nil {
		b.line("FPP", "%s %% for random keys, estimated from the filters alone", analysis.Percent(*r.FPP))
	}
	switch {
	case r.Between.Asked > 0:
		b.line("FPR", "%v of %d absent keys between the table's own", r.Between, r.Between.Asked)
	case r.BetweenUnasked != "":
		b.line("FPR", "not measured: %s", r.BetweenUnasked)
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
		return analysis.Sprintf("FALSE NEGATIVES: %d of %s do not match their filter: %s%s",
			r.FalseNegatives, analysis.Count(r.Entries, "entry", "entries"),
			strings.Join(r.Lost, ", "), more)
	case Corrupt:
		return "CORRUPT: " + r.Reason
	case NoFilter:
		return "no filter"
	default:
		return fmt.Sprintf("%s: %s", r.Status, r.Reason)
	}
}

// rows writes a line for each table, and what is wrong with any.
func (b *textWriter) rows(results []*Result) {
	names := len("table")
	for _, r := range results {
		names = max(names, utf8.RuneCountInString(r.name()))
	}
	row := func(columns ...string) {
		line := fmt.Sprintf("%-*s  %-20s  %12s  %8s  %6s  %6s  %s", names, columns[0], columns[1],
			columns[2], columns[3], columns[4], columns[5], columns[6])
		fmt.Fprintln(b, line)
	}
	row("table", "encoding", "entries", "bits/key", "FPP %", "FPR %", "verification")
	for _, r := range results {
		row(r.row()...)
	}
	for _, r := range results {
		if r.Status != Sound && r.Status != NoFilter {
			b.wrapped("", "  ", fmt.Sprintf("%s: %s", filepath.Base(r.Path), r.verification()))
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
	filters := []string{analysis.Count(s.FilterBytes, "byte")}
	for _, name := range slices.Sorted(maps.Keys(s.Encodings)) {
		filters = append(filters, analysis.Sprintf("%d of %s", s.Encodings[name], name))
	}
	b.line("filters", "%s", strings.Join(filters, ", "))
	if s.Between.Asked > 0 {
		b.line("FPR", "%s of absent keys between the tables' own, weighted by the tables' keys",
			s.Between)
	}
}

func (r *Result) name() string { return printable(filepath.Base(r.Path)) }

// row returns the columns of a table's line.
func (r *Result) row() []string {
	row := []string{r.name(), "", "", "", "", "", string(r.Status)}
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
	if r.FPP != nil {
		row[4] = analysis.Percent(*r.FPP)
	}
	if r.Between.Asked > 0 {
		row[5] = analysis.Percent(r.Between.Rate)
	}
	return row
}

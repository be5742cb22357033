package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// width is that of the text: it fits 100 columns with an indentation.
const width = 96

// A textWriter collects the report for people.
type textWriter struct{ strings.Builder }

// writeText writes the verdict, then of each PATH its tables, and what filters are worth to it.
func (r *report) writeText(w io.Writer) error {
	b := &textWriter{}
	b.wrapped("", "", r.Verdict)
	for _, d := range r.Paths {
		fmt.Fprintf(b, "\n%s\n", scan.Printable(d.Path))
		if d.Note != "" {
			b.wrapped("  ", "  ", d.Note)
		}
		b.tables(d.Tables)
		if d.Verdict != nil {
			b.verdict(d.Verdict)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapped writes s in lines, the first after one prefix, the others after another of the same
// width.
func (b *textWriter) wrapped(first, others, s string) {
	for _, line := range strings.Split(text.WrapSoft(scan.Printable(s), width-len(first)), "\n") {
		fmt.Fprintln(b, first+strings.TrimRight(line, " ")) // WrapSoft fills lines with spaces
		first = others
	}
}

// tables writes a line for each table, and what is wrong with any.
func (b *textWriter) tables(results []*scan.Result) {
	columns := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if len(results) > 0 {
		fmt.Fprintln(columns, "  table\tpolicy\tencoding\tentries\tbits/key\tverification")
	}
	for _, r := range results {
		fmt.Fprintf(columns, "  %s\t%s\t%s\n", name(r), figures(r), r.Status)
	}
	columns.Flush()
	for _, r := range results {
		if r.Reason != "" {
			b.wrapped("  ", "    ", fmt.Sprintf("%s: %s: %s", name(r), r.Status, r.Reason))
		}
	}
}

func name(r *scan.Result) string { return scan.Printable(filepath.Base(r.Path)) }

// figures returns the middle columns of a table's line.
func figures(r *scan.Result) string {
	switch {
	case r.Report == nil:
		return "\t\t\t"
	case r.Filters == nil:
		return fmt.Sprintf("\t\t%d\t", r.Entries)
	}
	encodings := strings.Join(slices.Sorted(maps.Keys(r.Encodings)), ", ")
	return fmt.Sprintf("%s\t%s\t%d\t%.1f", scan.Printable(r.Policy), encodings, r.Entries,
		r.BitsPerKey)
}

// verdict writes what filters are worth to a database.
func (b *textWriter) verdict(v *verdict.Verdict) {
	fmt.Fprintln(b)
	b.wrapped("  ", "  ", v.Sentence)
	for _, fact := range v.Facts {
		b.wrapped("  - ", "    ", fact)
	}
	for _, line := range v.Code {
		fmt.Fprintln(b, "      "+line)
	}
}

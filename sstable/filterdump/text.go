package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// width is that of the text. Only a word may be longer, such as a path.
const width = 80

// A textWriter collects the report for people.
type textWriter struct{ strings.Builder }

// text returns the report for people. The verdicts come first, unless not all is well.
func (r *report) text() string {
	b := &textWriter{}
	last := r.status == exitSound && r.Paths[0].Verdict != nil
	if !last {
		b.wrapped("", r.Verdict)
	}
	if r.status == exitFault {
		b.gap()
		advice := "Restore what is damaged from a backup."
		for _, d := range r.Paths {
			if slices.ContainsFunc(d.Tables, func(r *verify.Result) bool { return r.FalseNegatives > 0 }) {
				advice += " No data is lost by a false negative: in a database that is opened " +
					"without that policy, lookups find all keys."
				break
			}
		}
		b.wrapped("", advice)
	}
	for _, d := range r.Paths {
		b.gap()
		if !last || len(r.Paths) > 1 {
			b.line(printable(d.Path))
		}
		b.wrapped("- ", d.Note)
		b.reasons(d.Tables)
		if d.Verdict != nil {
			b.verdict(d.Verdict)
		}
		if d.Figures != nil && r.status == exitSound {
			b.levels(d)
		}
	}
	if last {
		b.gap()
		b.wrapped("", r.Verdict)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// reasons says which tables are not fine, and why: once if it is the same for many.
func (b *textWriter) reasons(tables []*verify.Result) {
	const most = 20
	names, reasons := map[string][]string{}, []string(nil)
	for _, r := range tables {
		if r.Status.IsFine() {
			continue
		}
		reason := fmt.Sprintf("%s: %s", r.Status, r.Reason)
		if names[reason] == nil {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], filepath.Base(r.Path))
	}
	for _, reason := range reasons[:min(len(reasons), most)] {
		subject := names[reason][0]
		if n := len(names[reason]); n > 1 {
			subject = fmt.Sprintf("%d tables, such as %s", n, subject)
		}
		b.wrapped("- ", subject+": "+reason)
	}
	if len(reasons) > most {
		b.line("- and so on: --json has the reasons of all tables")
	}
}

// verdict writes what filters are worth to a database.
func (b *textWriter) verdict(v *verdict.Verdict) {
	var rows []table.Row
	b.gap()
	b.wrapped("", v.Sentence)
	for _, row := range v.Rows {
		source := "computed"
		if row.Counted {
			source = "counted"
		}
		rows = append(rows, table.Row{row.Setup, verdict.Digits(row.Reads), source,
			verdict.Digits(row.FilterBytes / verdict.MiB)})
	}
	b.table(table.Row{"", "blocks for 1,000 absent keys", "", "MiB of filters"}, rows, 2, 4)
	b.gap()
	for _, line := range v.Code {
		b.line("    " + line)
	}
	b.gap()
	for _, fact := range v.Facts {
		b.wrapped("- ", fact)
	}
}

// levels writes a row for each level of a database.
func (b *textWriter) levels(d *census.Database) {
	var rows []table.Row
	for _, l := range d.Levels {
		rows = append(rows, table.Row{fmt.Sprintf("L%d", l.Number), verdict.Thousands(int64(l.Tables)),
			verdict.Thousands(l.Entries), verdict.Digits(l.FilterBytes / verdict.MiB),
			printable(tally(l.Filters))})
	}
	b.table(table.Row{"level", "tables", "entries", "MiB of filters", "tables by filter"}, rows,
		2, 3, 4)
	if len(d.Total.Policies) > 0 {
		b.gap()
		b.wrapped("", "Tables by the name of the filters' policy: "+tally(d.Total.Policies))
	}
}

// tally writes how often each name is there: "12 ribbon, 3 none".
func tally(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, verdict.Thousands(int64(counts[name]))+" "+name)
	}
	return strings.Join(parts, ", ")
}

// table writes rows in columns. Those of numbers are aligned to the right.
func (b *textWriter) table(header table.Row, rows []table.Row, numbers ...int) {
	if len(rows) == 0 {
		return
	}
	w := table.NewWriter()
	w.Style().Options = table.OptionsNoBordersAndSeparators
	w.Style().Format.Header = text.FormatDefault
	w.AppendHeader(header)
	w.AppendRows(rows)
	columns := []table.ColumnConfig{{Number: 5, WidthMax: 36}} // so that all fits
	for _, n := range numbers {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight,
			AlignHeader: text.AlignRight})
	}
	w.SetColumnConfigs(columns)
	b.gap()
	for _, line := range strings.Split(w.Render(), "\n") {
		b.line(line[1:]) // cells begin and end with a space
	}
}

// wrapped writes s, if it is not empty, in lines: the first after a prefix, the others below its
// text. It breaks no word.
func (b *textWriter) wrapped(prefix, s string) {
	if s == "" {
		return
	}
	words := strings.Split(printable(s), " ")
	line := words[0]
	for _, word := range words[1:] {
		if text.RuneWidthWithoutEscSequences(prefix+line+" "+word) <= width {
			line += " " + word
			continue
		}
		b.line(prefix + line)
		prefix, line = strings.Repeat(" ", len(prefix)), word
	}
	b.line(prefix + line)
}

// gap ends a paragraph.
func (b *textWriter) gap() {
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		b.line("")
	}
}

// line writes a line, without the spaces by which go-pretty fills it.
func (b *textWriter) line(s string) { fmt.Fprintln(b, strings.TrimRight(s, " ")) }

// printable returns s with escapes for what is not printable, which a terminal could take for a
// command: names from the disk can have any bytes.
func printable(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

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
	rows := [][]string{{"blocks for 1,000 absent keys", "MiB of filters", "setup"}}
	b.gap()
	b.wrapped("", v.Sentence)
	for _, row := range v.Rows {
		rows = append(rows, []string{verdict.Digits(row.Reads),
			verdict.Digits(row.FilterBytes / verdict.MiB), row.Setup})
	}
	b.table(rows)
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
	rows := [][]string{{"level", "tables", "entries", "MiB of filters", "tables by filter"}}
	for _, l := range d.Levels {
		rows = append(rows, []string{fmt.Sprintf("L%d", l.Number), verdict.Thousands(int64(l.Tables)),
			verdict.Thousands(l.Entries), verdict.Digits(l.FilterBytes / verdict.MiB),
			printable(tally(l.Filters))})
	}
	b.table(rows)
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

// table writes a header and rows, if there are any, in columns. All but the last are aligned to the
// right.
func (b *textWriter) table(rows [][]string) {
	if len(rows) == 1 {
		return
	}
	b.gap()
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		last := len(row) - 1
		fmt.Fprintf(w, "%s\t  %s\n", strings.Join(row[:last], "\t"), row[last])
	}
	_ = w.Flush() // to memory
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
		if utf8.RuneCountInString(prefix+line+" "+word) <= width {
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

func (b *textWriter) line(s string) { fmt.Fprintln(b, s) }

// printable returns s with escapes for what is not printable, which a terminal could take for a
// command: names from the disk can have any bytes.
func printable(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

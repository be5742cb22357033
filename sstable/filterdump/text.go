package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// writeText writes the report for people: the verdict, then each PATH. A few tables are described at length, more of them
// with a line for each, unless long is set.
func (r *report) writeText(w io.Writer, long bool) error {
	const few = 3
	long = long || len(r.Tables) <= few
	var b strings.Builder
	fmt.Fprintln(&b, r.Verdict)
	rest := r.Tables
	var single []*Result // PATHs that are tables, one after the other
	writeSingle := func() {
		if len(single) > 0 {
			b.WriteString("\n")
			writeRows(&b, single, func(path string) string { return path })
		}
		single = nil
	}
	for _, s := range r.Paths {
		results := rest[:s.count()]
		rest = rest[len(results):]
		switch {
		case long:
			for _, t := range results {
				t.describeAtLength(&b)
			}
		case !s.directory && s.Note == "":
			single = append(single, results...)
			continue
		}
		writeSingle()
		if s.Note != "" {
			fmt.Fprintf(&b, "\n%s\n  %s\n", s.Path, s.Note)
		} else if !long {
			s.writeHeading(&b)
			writeRows(&b, results, filepath.Base)
		}
	}
	writeSingle()
	if !long {
		b.WriteString(legend)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// textWidth is that of lines behind their label; those of a list without labels gain listIndent.
const (
	textWidth  = 100
	listIndent = 14
)

const legend = `
set %: bits of the filters that are set; FPP %: estimated from them, and that of the fingerprints in binary fuse. FPR with
absent keys between the table's own, with keys of their shape beyond them, and with random bytes. -long tells more.
`

// wrap cuts text into lines of at most width characters.
func wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ") // it fills them up
	}
	return lines
}

// describeAtLength writes all that is known about a table.
func (r *Result) describeAtLength(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n", r.Path)
	line := func(label, format string, args ...any) {
		for _, part := range wrap(fmt.Sprintf(format, args...), textWidth) {
			fmt.Fprintf(b, "  %-14s %s\n", label, part)
			label = ""
		}
	}
	line("verification", "%s", r.verification())
	if r.Format != "" {
		comparer := ""
		if r.Comparer != "" {
			comparer = ", comparer " + r.Comparer
		}
		line("format", "%s%s, %s bytes", r.Format, comparer, thousands(r.Size))
	}
	if r.Report == nil {
		return
	}
	r.describeKeys(line)
	if r.Filter != nil {
		r.describeFilters(line)
	}
	for _, advice := range r.Advice {
		line("advice", "%s", advice)
	}
}

func (r *Result) describeKeys(line func(label, format string, args ...any)) {
	if r.Entries == 0 && r.Status == Unverified {
		return // they could not be read
	}
	text := count(r.Entries, "entry", "entries") + " of " + count(r.Keys, "key")
	if r.KeyShape != "" {
		text += ", " + r.KeyShape
	}
	if r.Filter != nil && r.Unfiltered > 0 {
		text += fmt.Sprintf("; %s without a filter", thousands(r.Unfiltered))
	}
	line("keys", "%s", text)
}

func (r *Result) describeFilters(line func(label, format string, args ...any)) {
	name := r.Policy
	if r.Encoding != "" {
		name += ", " + r.Encoding
	}
	line("policy", "%s", name)
	if len(r.Further) > 0 {
		line("not looked at", "%s", strings.Join(r.Further, ", "))
	}
	if r.Layout == layoutWindow {
		line("filters", "%s and %s empty, one for every %s bytes of data (base_lg %d); %s bytes in all",
			thousands(r.Filters), thousands(r.Empty), window(r.BaseLg), r.BaseLg, thousands(r.Bytes))
	} else {
		line("filters", "one for the whole table, of %s bytes", thousands(r.Bytes))
	}
	if len(r.Probes) == 0 && r.Cells == 0 {
		return
	}
	if len(r.Probes) > 0 {
		line("bits", "%.2f per key, k = %s; %.1f %% of them set, as by %s keys", r.BitsPerKey, joinInts(r.Probes), 100*r.Fill, thousands(int64(r.Distinct+0.5)))
	}
	if r.Cells > 0 {
		line("cells", "%s", r.cells())
	}
	line("FPP", "%s %%, %s", percent(r.FPP), r.foundation())
	line("FPR", "%s", rateText(r.Between, r.BetweenUnasked, "absent keys between the table's own"))
	line("", "%s", rateText(r.Beyond, r.BeyondUnasked, "absent keys of their shape beyond them"))
	line("", "%s", rateText(r.Random, "", "random bytes"))
}

// cells describes those of the binary fuse filters.
func (r *Result) cells() string {
	text := fmt.Sprintf("%s of %s bits", thousands(r.Cells), joinInts(r.FingerprintBits))
	if len(r.Probes) == 0 {
		text = fmt.Sprintf("%.2f bits per key; %s", r.BitsPerKey, text)
	}
	if r.Fuse != nil {
		text += fmt.Sprintf(", %s in a segment; seed %s", thousands(r.Fuse.SegmentCells), r.Fuse.Seed)
	}
	return text
}

// foundation says from where the FPP is known.
func (r *Result) foundation() string {
	const estimated = "estimated from the bits that are set"
	switch bits := joinInts(r.FingerprintBits); {
	case bits == "":
		return estimated
	case len(r.Probes) > 0:
		return fmt.Sprintf("%s, and that of fingerprints of %s bits", estimated, bits)
	default:
		return fmt.Sprintf("that of fingerprints of %s bits", bits)
	}
}

// verification says what came out of comparing the keys with the filters.
func (r *Result) verification() string {
	switch r.Status {
	case Sound:
		return fmt.Sprintf("sound: all %s match their filters", count(r.Entries-r.Unfiltered, "entry", "entries"))
	case FalseNegative:
		more := ""
		if r.FalseNegatives > int64(len(r.Lost)) {
			more = ", ..."
		}
		return fmt.Sprintf("FALSE NEGATIVES: %s of %s do not match their filter: %s%s",
			thousands(r.FalseNegatives), count(r.Entries, "entry", "entries"), strings.Join(r.Lost, ", "), more)
	case Corrupt:
		return "CORRUPT: " + r.Reason
	case NoFilter:
		return "no filter"
	default:
		return fmt.Sprintf("%s: %s", r.Status, r.Reason)
	}
}

// writeHeading writes what the tables of a directory have in common.
func (s *Summary) writeHeading(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s, %s, %s bytes of filters", s.Path, count(s.count(), "table"), count(s.Entries, "entry", "entries"), thousands(s.FilterBytes))
	if s.LeftOut > 0 {
		fmt.Fprintf(b, " (-sample left out %s)", count(s.LeftOut, "table"))
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		fmt.Fprintf(b, "  %s in %s\n", name, count(s.Policies[name], "table"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Encodings)) {
		fmt.Fprintf(b, "  %s of %s\n", count(s.Encodings[name], "filter"), name)
	}
}

// writeRows writes a line for each table, what is wrong with any, and the advice for the worst. name makes a path short.
func writeRows(b *strings.Builder, results []*Result, name func(path string) string) {
	rows := table.NewWriter()
	rows.SetStyle(table.StyleLight)
	rows.Style().Format.Header = text.FormatDefault
	header := table.Row{"table", "encoding", "filters", "empty", "entries", "bits/key", "k", "set %", "FPP %", "between %", "beyond %", "random %", "verification"}
	rows.AppendHeader(header)
	var numbers []table.ColumnConfig
	for i := 3; i < len(header); i++ {
		numbers = append(numbers, table.ColumnConfig{Number: i, Align: text.AlignRight})
	}
	rows.SetColumnConfigs(numbers)
	for _, r := range results {
		rows.AppendRow(r.row(name(r.Path)))
	}
	fmt.Fprintln(b, rows.Render())
	var worst *Result
	for _, r := range results {
		if r.Status != Sound && r.Status != NoFilter {
			fmt.Fprintf(b, "%s: %s\n", name(r.Path), r.verification())
		}
		if r.Report != nil && (worst == nil || r.Between.Rate > worst.Between.Rate) {
			worst = r
		}
	}
	if worst != nil && len(worst.Advice) > 0 {
		fmt.Fprintf(b, "advice, from %s, where most absent keys between the table's own pass (-long has that of all):\n", name(worst.Path))
		for _, advice := range worst.Advice {
			fmt.Fprintf(b, "- %s\n", strings.Join(wrap(advice, textWidth+listIndent), "\n  "))
		}
	}
}

// row returns the columns of a table's line.
func (r *Result) row(name string) table.Row {
	if r.Report == nil {
		return table.Row{name, "", "", "", "", "", "", "", "", "", "", "", string(r.Status)}
	}
	if r.Filter == nil {
		return table.Row{name, "", "", "", thousands(r.Entries), "", "", "", "", "", "", "", string(r.Status)}
	}
	fill := ""
	if len(r.Probes) > 0 {
		fill = fmt.Sprintf("%.1f", 100*r.Fill)
	}
	return table.Row{
		name, r.encodingColumn(), thousands(r.Filters), thousands(r.Empty), thousands(r.Entries), fmt.Sprintf("%.1f", r.BitsPerKey), joinInts(r.Probes),
		fill, percent(r.FPP), rateColumn(r.Between), rateColumn(r.Beyond), rateColumn(r.Random), string(r.Status),
	}
}

// encodingColumn returns the encoding of a table's filters for a column, nothing if it is not known.
func (r *Result) encodingColumn() string {
	if len(r.Encodings) > 1 {
		return "several"
	}
	for name := range r.Encodings {
		return name
	}
	return ""
}

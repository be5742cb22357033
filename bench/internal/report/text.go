package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteText writes the tables for people, no line wider than width, which is 60 or more. A table
// that is too wide becomes several, each with the columns that say what a row is.
func (r *Report) WriteText(w io.Writer, width int) error {
	var b strings.Builder
	paragraph := func(s string) { b.WriteString(Wrap(s, width) + "\n") }
	paragraph(r.Command + ", " + r.Environment.String())
	paragraph(r.settings())
	if p := r.problem(); p != "" {
		paragraph(p)
	}
	for _, t := range r.Tables {
		for _, part := range t.split(width) {
			fmt.Fprintf(&b, "\n%s\n%s\n", Wrap(part.Title, width), part.writer(true).Render())
		}
	}
	b.WriteString("\n")
	for _, note := range r.Notes {
		paragraph(note)
	}
	if len(r.Conclusion) > 0 {
		b.WriteString("\nConclusion\n" + Paragraphs(r.Conclusion, width))
	}
	if p := r.problem(); p != "" {
		paragraph(p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the tables as documents show them.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`, %s. %s\n", r.Command, r.Environment, r.settings())
	if p := r.problem(); p != "" {
		fmt.Fprintf(&b, "\n**%s**\n", p)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", t.Title, t.writer(false).RenderMarkdown())
	}
	for i, line := range append(slices.Clone(r.Notes), r.Conclusion...) {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) settings() string {
	var all []string
	for _, s := range r.Versions {
		all = append(all, fmt.Sprintf("%s %v", s.Name, s.Value))
	}
	for _, s := range r.Settings {
		switch s.Value {
		case "", false:
		case true:
			all = append(all, "--"+s.Name)
		default:
			all = append(all, fmt.Sprintf("--%s %v", s.Name, s.Value))
		}
	}
	return strings.Join(all, ", ")
}

// Paragraphs writes lines no wider than width, but for code.
func Paragraphs(lines []string, width int) string {
	var b strings.Builder
	for _, line := range lines {
		if !strings.HasPrefix(line, Code) {
			line = Wrap(line, width)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Wrap breaks the lines of s between words.
func Wrap(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// border is what a column takes besides its text: two spaces and a line.
const border = 3

// widths returns the width of each column's text. Headers are wrapped at spaces.
func (t Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, header := range t.Columns {
		for _, word := range strings.Fields(header) {
			widths[i] = max(widths[i], utf8.RuneCountInString(word))
		}
		for _, row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(format(row[i])))
		}
	}
	return widths
}

// split returns tables of the same rows that are no wider than width.
func (t Table) split(width int) []Table {
	widths := t.widths()
	keys := 1
	for _, w := range widths[:t.Keys] {
		keys += w + border
	}
	var parts []Table
	for at := t.Keys; at < len(t.Columns); {
		end, total := at, keys
		for end < len(t.Columns) && (end == at || total+widths[end]+border <= width) {
			total += widths[end] + border
			end++
		}
		part := Table{Title: t.Title, Keys: t.Keys}
		if at > t.Keys {
			part.Title += " (continued)"
		}
		pick := func(row []string) []string {
			return append(append([]string{}, row[:t.Keys]...), row[at:end]...)
		}
		part.Columns = pick(t.Columns)
		for _, row := range t.Rows {
			part.Rows = append(part.Rows, append(append([]any{}, row[:t.Keys]...), row[at:end]...))
		}
		parts = append(parts, part)
		at = end
	}
	return parts
}

func (t Table) writer(wrapHeaders bool) table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	header := table.Row{}
	var columns []table.ColumnConfig
	for i, width := range t.widths() {
		name := t.Columns[i]
		if wrapHeaders {
			name = Wrap(name, width)
		}
		header = append(header, name)
		c := table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		for _, row := range t.Rows {
			if isText(row[i]) {
				c.Align, c.AlignHeader = text.AlignLeft, text.AlignLeft
			}
		}
		columns = append(columns, c)
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(columns)
	for _, row := range t.Rows {
		cells := table.Row{}
		for _, cell := range row {
			cells = append(cells, format(cell))
		}
		w.AppendRow(cells)
	}
	return w
}

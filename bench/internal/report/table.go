package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table has texts and figures.
type Table struct {
	Title   string
	Keys    int // the first columns say what a row is
	Columns []string
	Rows    [][]string
}

// Add adds a row. A nil cell is empty: nothing is known.
func (t *Table) Add(cells ...any) {
	var row []string
	for _, cell := range cells {
		if cell == nil {
			cell = ""
		}
		row = append(row, fmt.Sprint(cell))
	}
	t.Rows = append(t.Rows, row)
}

// number matches a figure, which an interval may follow.
var number = regexp.MustCompile(`^([0-9][0-9.]*(\x{a0}%)?( (\[.*\]|±.*))?)?$`)

// isNumber reports whether a column has nothing but figures, which are aligned to the right.
func (t Table) isNumber(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []string) bool {
		return !number.MatchString(row[column])
	})
}

// Markdown returns the table as documents show it, without its title.
func (t Table) Markdown() string { return t.writer(nil).RenderMarkdown() }

// text returns the table for a terminal. One that is wider than Width becomes several.
func (t Table) text() string {
	var b strings.Builder
	for _, part := range t.split() {
		fmt.Fprintf(&b, "\n%s\n%s\n", wrap(part.Title, Width), part.writer(part.widths()).Render())
	}
	return b.String()
}

// border is the width of a column without its text: two spaces and a line.
const border = 3

// widths returns the width of each column's text. Headers are wrapped at spaces.
func (t Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, header := range t.Columns {
		texts := strings.Fields(header)
		for _, row := range t.Rows {
			texts = append(texts, row[i])
		}
		for _, text := range texts {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	return widths
}

// split returns tables of the same rows, no wider than Width. Each has the columns that say what a
// row is.
func (t Table) split() (parts []Table) {
	widths := t.widths()
	keys := 1
	for _, w := range widths[:t.Keys] {
		keys += w + border
	}
	for at := t.Keys; at < len(t.Columns); {
		end, total := at, keys
		for end < len(t.Columns) && (end == at || total+widths[end]+border <= Width) {
			total += widths[end] + border
			end++
		}
		pick := func(row []string) []string { return slices.Concat(row[:t.Keys], row[at:end]) }
		part := Table{Title: t.Title, Keys: t.Keys, Columns: pick(t.Columns)}
		if at > t.Keys {
			part.Title += " (continued)"
		}
		for _, row := range t.Rows {
			part.Rows = append(part.Rows, pick(row))
		}
		parts = append(parts, part)
		at = end
	}
	return parts
}

// writer returns a writer of the table, whose headers are wrapped to widths if there are some.
func (t Table) writer(widths []int) table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	var columns []table.ColumnConfig
	for i := range t.Columns {
		c := table.ColumnConfig{Number: i + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft}
		if t.isNumber(i) {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		if widths != nil {
			c.WidthMax, c.WidthMaxEnforcer = widths[i], wrap
		}
		columns = append(columns, c)
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(row(t.Columns))
	for _, cells := range t.Rows {
		w.AppendRow(row(cells))
	}
	return w
}

func row(cells []string) (r table.Row) {
	for _, cell := range cells {
		r = append(r, cell)
	}
	return r
}

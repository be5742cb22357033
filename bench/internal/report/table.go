package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table has texts and figures.
type Table struct {
	Title   string
	Keys    int // the first columns, which say what a row is; the others are aligned to the right
	Columns []string
	Rows    [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...any) {
	var row []string
	for _, cell := range cells {
		row = append(row, fmt.Sprint(cell))
	}
	t.Rows = append(t.Rows, row)
}

// Markdown returns the table as documents show it, without its title.
func (t Table) Markdown() string { return t.writer().RenderMarkdown() }

// text returns the table for a terminal.
func (t Table) text() string {
	const headerWidth = 9 // but for long words
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = wrap(c, headerWidth)
	}
	title := wrap(t.Title, Width)
	t.Columns = columns
	return fmt.Sprintf("\n%s\n%s\n", title, t.writer().Render())
}

func (t Table) writer() table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.Style().Options = table.Options{SeparateHeader: true}
	var columns []table.ColumnConfig
	for i := t.Keys; i < len(t.Columns); i++ {
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight,
			AlignHeader: text.AlignRight})
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

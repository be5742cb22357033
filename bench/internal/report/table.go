package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table has texts and figures.
type Table struct {
	Title   string
	Keys    int      // the first columns, which say what a row is; others are aligned to the right
	Columns []string // a name may have several lines
	Rows    [][]string
}

// Set sets the cell of a column in the row that begins with the keys. If there is no such column or
// row, it adds it.
func (t *Table) Set(column, cell string, keys ...string) {
	i := slices.Index(t.Columns, column)
	if i < 0 {
		i, t.Columns = len(t.Columns), append(t.Columns, column)
	}
	at := slices.IndexFunc(t.Rows, func(row []string) bool { return slices.Equal(row[:t.Keys], keys) })
	if at < 0 {
		at, t.Rows = len(t.Rows), append(t.Rows, slices.Clone(keys))
	}
	for len(t.Rows[at]) <= i {
		t.Rows[at] = append(t.Rows[at], "")
	}
	t.Rows[at][i] = cell
}

// Markdown returns the table as documents show it, without its title.
func (t Table) Markdown() string {
	return strings.ReplaceAll(t.writer().RenderMarkdown(), "<br/>", " ")
}

// text returns the table for a terminal.
func (t Table) text() string { return wrap(t.Title, width) + "\n" + t.writer().Render() + "\n" }

func (t Table) writer() table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.Style().Options = table.Options{SeparateHeader: true}
	var header table.Row
	var configs []table.ColumnConfig
	for i, c := range t.Columns {
		header = append(header, c)
		config := table.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if i >= t.Keys {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(configs)
	for _, cells := range t.Rows {
		var row table.Row
		for _, cell := range cells {
			row = append(row, cell)
		}
		w.AppendRow(row)
	}
	return w
}

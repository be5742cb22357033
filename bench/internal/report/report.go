// Package report presents what a benchmark measured: as text for a terminal, as Markdown for
// documents, and as JSON for programs.
package report

import "io"

// A Report is what one run of a benchmark measured, with what it depends on.
type Report struct {
	Command     string // such as "bench engines"
	Environment Environment
	Versions    []Setting // of what was compared
	Settings    []Setting
	// Records is what was measured, a slice of structs: one for each turn, run or cell. The tags
	// "json" and "doc" name and describe the fields. Only JSON shows them.
	Records    any
	Tables     []Table  // sum the records up
	Notes      []string // what the tables mean, a paragraph each
	Conclusion []string // a paragraph each, or a line that begins with Code
	// Incomplete is why the benchmark ended early, or nil.
	Incomplete error
	WriteSVG   func(io.Writer) error // of benchmarks that draw
	WriteBench func(io.Writer) error // of benchmarks of speed: Go's benchmark format
}

// Code begins a line of a conclusion that is written as it is, such as a line of Go.
const Code = "    "

// AddVersion adds the version of something that was compared.
func (r *Report) AddVersion(name, version string) {
	r.Versions = append(r.Versions, Setting{name, version})
}

// A Setting is a named value.
type Setting struct {
	Name  string
	Value any
}

// A Table has typed cells: a string, an int, a Number, a Spread, or nil where nothing is known.
type Table struct {
	Title   string
	Keys    int // the first columns say what a row is; each part of a split table shows them
	Columns []string
	Rows    [][]any
}

// Add adds a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// problem returns one line about an incomplete report, or "".
func (r *Report) problem() string {
	if r.Incomplete == nil {
		return ""
	}
	return "INCOMPLETE, because it ended early: " + oneLine(r.Incomplete)
}

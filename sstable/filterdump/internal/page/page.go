// Package page writes what filterdump found as a page in HTML: one file that needs no other, and
// no network.
package page

import (
	"embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode"
)

// A Page is a report.
type Page struct {
	Title     string // the first line of the report
	Faulty    bool
	Databases []Database
}

// A Database is a part of the report. Whatever is empty is left out.
type Database struct {
	Path, Note     string
	Bars           []Bar
	Counted        string // how the figures of the bars were found
	Sentence       string // what to do
	Code           []string
	Facts          []string
	Levels, Tables Table
}

// A Bar shows what lookups read with some filters: now, then with the code, at last without any.
type Bar struct {
	Label, Reads string
	Part         float64 // of the longest bar, 0 to 1
	Filters      string  // their size
}

// A Table has a cell for each column in each row. The first one says what the row is about.
type Table struct {
	Header []string
	Rows   [][]string
}

// Figures reports which columns have no letters. These are aligned to the right.
func (t Table) Figures() (columns []bool) {
	for i := range t.Header {
		columns = append(columns, !slices.ContainsFunc(t.Rows, func(row []string) bool {
			return strings.ContainsFunc(row[i], unicode.IsLetter)
		}))
	}
	return columns
}

//go:embed page.html page.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "page.*"))

// Write writes the page.
func Write(w io.Writer, p Page) error { return page.ExecuteTemplate(w, "page.html", p) }

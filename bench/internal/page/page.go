// Package page writes what bench shows as a page in HTML: one file that needs no other, and no
// network.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Card is about a database that was counted, or about the simulated databases of an engine.
type Card struct {
	About    string
	Sentence string // what to do, if that is known
	Pictures []Picture
	Code     []string // lines of Go to change, if any
	Facts    []string
}

// A Picture is bars in rows.
type Picture struct {
	Title string
	Rows  []Row
}

// A Row is what belongs together in a picture, such as a level. Its second bar, if there is one, is
// what would be after a change.
type Row struct {
	Label string
	Bars  []Bar
}

// A Bar is as long as its value, which its text says.
type Bar struct {
	Value float64
	Text  string
}

// Part returns the length of a bar as a part of the longest one.
func (p Picture) Part(b Bar) string {
	longest := 0.0
	for _, row := range p.Rows {
		for _, other := range row.Bars {
			longest = max(longest, other.Value)
		}
	}
	if longest == 0 {
		return "0"
	}
	return fmt.Sprintf("%.4f", b.Value/longest)
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS template.CSS

	page = template.Must(template.New("page").Parse(pageHTML))
)

// Write writes the cards, and below them the report of what was measured.
func Write(w io.Writer, r *report.Report, cards []Card) error {
	return page.Execute(w, map[string]any{"CSS": pageCSS, "Report": r, "Cards": cards})
}

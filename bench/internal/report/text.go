package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is what lines of text have at most, but for long words and code.
const Width = 100

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Conclusion != "" {
		b.WriteString(wrap(r.Conclusion, Width) + "\n")
	}
	r.chart(&b)
	for _, t := range r.Tables {
		b.WriteString(t.text())
	}
	b.WriteString("\n" + paragraphs(append(r.Notes, r.Command, r.Environment.String())))
	if r.Incomplete != "" {
		b.WriteString(wrap("INCOMPLETE, because it ended early: "+r.Incomplete, Width) + "\n")
	}
	_, err := io.WriteString(w, trailing.ReplaceAllString(b.String(), ""))
	return err
}

// trailing matches the spaces that tables and wrapped lines end with.
var trailing = regexp.MustCompile(`(?m) +$`)

// chart draws the bars, unless there is nothing to be seen.
func (r *Report) chart(w io.Writer) {
	const longest = 40
	most := 0.0
	for _, bar := range r.Bars {
		most = max(most, bar.Value)
	}
	if most == 0 {
		return
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	fmt.Fprintf(columns, "\n\t\t%s\n", r.BarsTitle)
	for _, bar := range r.Bars {
		shown := bar.Group
		if bar.Group == group {
			shown = ""
		}
		group = bar.Group
		length := int(math.Round(longest * bar.Value / most))
		drawn := cmp.Or(strings.Repeat("█", length), "▏")
		fmt.Fprintf(columns, "%s\t%s\t%s %s\n", shown, bar.Label, drawn, Digits(bar.Value))
	}
	columns.Flush()
}

// paragraphs writes lines no wider than Width, but for code.
func paragraphs(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if !strings.HasPrefix(line, Code) {
			line = wrap(line, Width)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// wrap breaks the lines of s between words.
func wrap(s string, width int) string {
	return trailing.ReplaceAllString(text.WrapSoft(s, width), "")
}

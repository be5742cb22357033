package report

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is what lines of text have at most, but for long words and code.
const Width = 100

// WriteText writes the tables for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Title != "" {
		b.WriteString(paragraphs([]string{r.Title}))
	}
	b.WriteString(paragraphs([]string{r.Command, r.Environment.String()}))
	for _, t := range r.Tables {
		b.WriteString(t.text())
	}
	b.WriteString("\n" + paragraphs(r.Notes))
	if r.Incomplete != "" {
		b.WriteString(wrap("INCOMPLETE, because it ended early: "+r.Incomplete, Width) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

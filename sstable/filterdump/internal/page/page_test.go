package page

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example returns a page of two databases, and all of its texts, which have markup.
func example() (p Page, texts []string) {
	text := func() string {
		s := fmt.Sprintf("text %d of </style><script>alert(\"&'\")</script>", len(texts))
		texts = append(texts, s)
		return s
	}
	table := func() Table {
		return Table{[]string{text(), text(), text()}, [][]string{{text(), "1.5", text()}}}
	}
	p.Title = text()
	for range 2 {
		d := Database{Path: text(), Note: text(), Counted: text(), Sentence: text(),
			Code: []string{text(), text()}, Facts: []string{text(), text()},
			Levels: table(), Tables: table()}
		for _, part := range []float64{0, 0.5, 1} {
			d.Bars = append(d.Bars, Bar{text(), text(), part, text()})
		}
		p.Databases = append(p.Databases, d)
	}
	return p, texts
}

func written(t *testing.T, p Page) string {
	var b strings.Builder
	require.NoError(t, Write(&b, p))
	return b.String()
}

// All texts are shown as they are, and nothing is loaded or run.
func TestPage(t *testing.T) {
	p, texts := example()
	page := written(t, p)
	for _, text := range texts {
		require.Contains(t, html.UnescapeString(page), text)
	}
	for _, foreign := range []string{"<script", "http:", "https:", "src=", "url(", "@import"} {
		require.NotContains(t, page, foreign)
	}
	require.Contains(t, page, `<i style="--part: 0.5000"></i>`)
	require.Contains(t, page, `class="n">1.5</td>`)

	// Tables are folded, unless something is wrong. What is empty is left out.
	require.Contains(t, page, "<details>\n<summary>Tables: 1</summary>\n<table>")
	p.Faulty = true
	require.Contains(t, written(t, p), "<details open>")
	p.Databases = []Database{{Path: "/data"}}
	require.Contains(t, written(t, p), "<section>\n<h2>/data</h2>\n</section>")
}

package verdict

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS template.CSS

	page = template.Must(template.New("page").Parse(pageHTML))
)

// WritePage writes verdicts and the report that they follow from as a page in HTML: one file that
// needs no other, and no network.
func WritePage(w io.Writer, r *report.Report, all []Verdict) error {
	return page.Execute(w, map[string]any{"CSS": pageCSS, "Report": r, "Verdicts": all})
}

package labreport

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": isNumber,
}).Parse(pageHTML))

var aNumber = regexp.MustCompile(`^(-?[0-9][0-9.,]*(\x{a0}%)?( \[.*\])?|` + notReached + `)?$`)

// isNumber reports whether a column has nothing but numbers, which are aligned to the right.
func isNumber(t report.TextTable, column int) bool {
	for _, row := range t.Rows {
		if !aNumber.MatchString(row[column]) {
			return false
		}
	}
	return true
}

// WritePage writes the page: one file that needs no other, and no network.
func (r *Results) WritePage(w io.Writer) error {
	p, err := r.decode()
	if err != nil {
		return err
	}
	all := advices(p.engines)
	var choices []report.TextTable
	for _, a := range all {
		choices = append(choices, choiceTable(a))
	}
	var sections []section
	add := func(id, title, text string, figures []*chart.Figure, err2 error) {
		s := section{ID: id, Title: title, Text: text}
		for _, f := range figures {
			s.Figures = append(s.Figures, f.Inline())
		}
		if err = errors.Join(err, err2); len(figures) > 0 {
			sections = append(sections, s)
		}
	}
	figures, err2 := tradeOff(p.tradeOff, r.Keys)
	add("tradeoff", "How many bits per key", "More bits per key cost memory and save reads. Lower "+
		"and further left is better. The dashed line is the least possible for random keys; "+
		"filters of keys with a pattern can be better or worse. Points with fewer than "+
		fmt.Sprint(fewest)+" false positives are left out.", figures, err2)
	if len(p.tradeOff) > 0 {
		last := &sections[len(sections)-1]
		last.Tables = append(last.Tables, bitsTable(p.tradeOff))
	}
	figures, err2 = inEngines(all)
	add("engines", "In the engines: what each filter does and costs", fmt.Sprintf("Databases of "+
		"%s, with filters of %v bits per key. A miss is a lookup of an absent key between present "+
		"ones. A false positive makes the engine read a table for nothing. builtin is the "+
		"engine's own filter, none is no filter. The rates differ from those above because each "+
		"level of a database holds some of the keys, which lie further apart. %s", r.Keys, r.Bits,
		enginebench.CacheRule),
		figures, err2)
	if len(all) > 0 {
		sections[len(sections)-1].Tables = choices
	}
	figures, err2 = shapes(p.shapes)
	add("shapes", "Other keys", "The shape of keys decides how many false positives exact filters "+
		"have. Of ordered keys, 63% of a range are present, and the absent ones lie between "+
		"them. A point on the left edge means that rate or a lower one.", figures, err2)
	figures, err2 = curves(p.curve)
	add("curve", "Fuller filters", "What happens if a filter holds more or fewer keys than it is "+
		"sized for: measured, predicted, and by the textbook. The shaded band is one standard "+
		"deviation of the runs on both sides of their mean. Tuned and ribbon filters always have "+
		"the size that their keys need.", figures, err2)
	figures, err2 = speeds(p.speeds)
	add("speed", "Speed of filters by themselves", "Outside of any database, with keys of 16 "+
		"bytes. Above 1 is faster than goleveldb's own filter; the line on a bar is the spread. "+
		"\"again\" is the same code once more: its distance from 1 is noise.", figures, err2)
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"CSS": template.CSS(pageCSS), "R": r, "Headline": headline(all), "Problem": r.problem(),
		"Cards": cards(all, r.Bits, builds(p.speeds)), "Sections": sections,
	})
}

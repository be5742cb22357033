package labreport

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

var page = template.Must(template.New("page").Parse(pageHTML))

// WritePage writes the page: one file that needs no other, and no network.
func (r *Results) WritePage(w io.Writer) error {
	p, err := r.decode()
	if err != nil {
		return err
	}
	verdicts := r.record(p).Verdicts()
	pebble := "" // what only owners of Pebble need to know
	if slices.ContainsFunc(p.engines.Engines(), isPebble) {
		pebble = enginebench.PebbleRules
	}
	return page.Execute(w, map[string]any{
		"CSS": template.CSS(pageCSS), "R": r, "Headline": verdict.Headline(verdicts),
		"Verdicts": verdicts, "TradeOff": tradeOff(p.tradeOff, r.Keys), "Fewest": fewest,
		"Pebble": pebble,
	})
}

func isPebble(engine string) bool { return strings.HasPrefix(engine, "pebble") }

// InWords describes keys by an example, and says which are present.
func InWords(shape keys.Shape, density keys.Density) string {
	words := fmt.Sprintf("%s keys such as %s", shape.Name, shape.Example())
	if density.Name == keys.Anywhere.Name {
		return words
	}
	return words + " (" + density.Doc + ")"
}

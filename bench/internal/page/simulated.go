package page

import (
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Simulated returns a card for each engine, with the reads of each filter that was counted in it.
func Simulated(o *enginebench.Outcome) (cards []Card) {
	for _, e := range o.Engines {
		p := Picture{Title: "Reads per 1,000 lookups of absent keys (simulated)"}
		for _, r := range o.Runs {
			if r.Engine == e.Name && r.Round == 0 {
				blocks := r.Blocks()
				p.Rows = append(p.Rows, Row{r.Contestant, []Bar{{blocks, report.Digits(blocks)}}})
			}
		}
		if len(p.Rows) > 0 {
			about := strings.Replace(e.Name, "pebblev", "Pebble v", 1)
			cards = append(cards, Card{About: about, Pictures: []Picture{p}})
		}
	}
	return cards
}

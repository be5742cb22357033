package labreport

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// evil is what a path or a key may contain.
const evil = `/tmp/<script>alert("x")</script>'&`

// rates are the false-positive rates of the results below.
var rates = map[string]float64{
	engine.BuiltIn: 0.09, "exact": 0.09, "tuned": 0.02, "ribbon": 0.01,
}

// speed is how many times as fast as goleveldb's the filters are; turns differ by a hundredth.
func speed(name string, round int) float64 {
	fast := map[string]float64{"exact": 2, "tuned": 2, "ribbon": 3}[name]
	return max(1, fast) * (1 + 0.01*float64(round%2))
}

// results returns the results of a run that never was.
func results(t *testing.T) *Results {
	var runs []enginebench.Run
	var trade, byShape []ratebench.Record
	var turns []filterbench.Record
	for round := 1; round <= 3; round++ {
		for _, e := range []string{"goleveldb", "pebblev2"} {
			for _, name := range append(engine.Filters(), "ribbon"+enginebench.Again) {
				r := enginebench.Run{Engine: e, Contestant: name, Round: round,
					Load:           1e5 * (1 + 0.02*float64(round)),
					BetweenLookups: 1000, BeyondLookups: 1000,
					Passes: []enginebench.Pass{{Cache: enginebench.Small, Threads: 1,
						Keys: enginebench.Miss, PerSecond: 1e5}}}
				if rate, ok := rates[name]; ok {
					r.BetweenChecks, r.BeyondChecks = 4000, 4000
					r.BetweenAvoided = int64(4000 * (1 - rate))
					r.Levels = []engine.Level{{Keys: 1000, FilterBytes: 1250}}
				}
				runs = append(runs, r)
			}
		}
	}
	add := func(all *[]ratebench.Record, k, shape string, n int, bits, rate float64) {
		*all = append(*all, ratebench.Record{Kind: k, Shape: shape, Density: "63%", N: n,
			Bits: bits, FilterBytes: bits * float64(n) / 8, Filters: 2, Queries: 100_000,
			FalsePositives: int(rate * 1e5), FPR: rate, Low: rate * 0.9, High: rate * 1.1})
	}
	for _, n := range []int{36, 10_000} {
		for _, k := range kind.All {
			for _, bits := range []float64{4, 8, 10, 16} {
				add(&trade, k.Name, "own", n, bits, rates[k.Name]*4/bits)
			}
			for _, shape := range []string{"random", "bigendian"} {
				add(&byShape, k.Name, shape, n, 10, rates[k.Name])
			}
		}
	}
	for _, work := range []filterbench.Record{{Work: "lookup", Mix: "hit"}, {Work: "build"}} {
		names := []string{"goleveldb", "goleveldb again"}
		for _, k := range kind.All {
			names = append(names, k.Name)
		}
		for round := range 8 {
			for _, name := range names {
				work.N, work.Length, work.Round, work.Contestant = 10_000, 16, round+1, name
				work.Ns = 50 / speed(name, round)
				turns = append(turns, work)
			}
		}
	}
	r := &Results{Command: "go run ./bench report -keys " + evil, Bits: 10, Own: true,
		Keys: "your own keys (5 from " + evil + ")"}
	for _, p := range []struct {
		name    string
		records any
	}{{Engines, runs}, {TradeOff, trade}, {Shapes, byShape}, {Speeds, turns}} {
		data, err := json.Marshal(p.records)
		require.NoError(t, err)
		table := report.TextTable{Title: "A table of " + p.name, Keys: 1,
			Columns: []string{"name <b>", "rate, %"}}
		for i := range 20 {
			table.Rows = append(table.Rows, []string{evil, fmt.Sprint(i)})
		}
		r.Parts = append(r.Parts, Part{Name: p.name, Command: "go run ./bench " + p.name,
			Report: report.File{Command: "bench " + p.name, Complete: true, Records: data,
				Environment: report.Environment{CPU: "Zen 99", Cores: 2, Commit: "abc"},
				Versions:    map[string]any{"pebblev2": "v2"}, Tables: []report.TextTable{table},
				Notes: []string{evil}, Conclusion: []string{"Use it."}}})
	}
	return r
}

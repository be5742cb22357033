package enginebench

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// threeRounds returns an outcome whose contestants miss at 100, 200 and 300 thousand lookups/s
// without a filter, at twice that with the engine's own, and at four times that with exact and
// ribbon.
func threeRounds(t *testing.T) *Outcome {
	c, _ := config(t, new(memory))
	c.Filters = []string{engine.None, engine.BuiltIn, "bloom", "ribbon"}
	o := &Outcome{Config: c}
	for i, contestant := range c.Filters {
		r := Run{Engine: "pebblev2", Contestant: contestant, Load: 4000, BetweenLookups: 100}
		if contestant != engine.None {
			r.BetweenChecks, r.BetweenAvoided = 250, []int64{0, 200, 240, 249}[i]
			r.Filters, r.FilterBytes, r.Keys = 10, 1250, 1000
		}
		o.Runs = append(o.Runs, r)
	}
	for round := 1; round <= 3; round++ {
		for i, contestant := range append(c.Filters, "ribbon again") {
			speed := float64(round * 100_000 * []int{1, 2, 4, 4, 5}[i])
			r := Run{Engine: "pebblev2", Contestant: contestant, Round: round, Load: 5000,
				Miss: Pass{speed, []float64{5, 1.5, 1, 0.5, 0.5}[i]}, Hit: Pass{70_000, 1},
				Rewritten: Pass{500, 2}}
			o.Runs = append(o.Runs, r)
		}
	}
	return o
}

func textOf(t *testing.T, o *Outcome) string {
	r := &report.Report{Command: "bench engines"}
	o.Report(r)
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.NoError(t, r.WriteJSON(new(bytes.Buffer)), "every field is described")
	return b.String()
}

// lines returns the cells of all table rows that begin with the given cells, in order.
func lines(text string, first ...string) (cells []string) {
	for _, l := range strings.Split(text, "\n") {
		row := strings.Split(strings.Trim(l, "│"), "│")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if n := len(first); len(row) > n && strings.Join(row[:n], "|") == strings.Join(first, "|") {
			cells = append(cells, row[n:]...)
		}
	}
	return cells
}

func TestText(t *testing.T) {
	o := threeRounds(t)
	text := textOf(t, o)
	for contestant, want := range map[string][]string{
		"none":         {"200000", "5.00", "70000", "1.00", "500", "2.00", "5000"},
		"ribbon again": {"5.0", "0.50", "1.0", "1.00", "1.0", "2.00", "1.0"},
		// 10 of 250 checks, and of 100 misses, are false positives.
		"bloom": {"4.0", "1.00", "1.0", "1.00", "1.0", "2.00", "1.0",
			"2.50", "4.0 [2.2 to 7.2]", "100 [55 to 180]", "100", "1.25"},
	} {
		require.Equal(t, want, lines(text, "pebblev2", contestant))
	}
	require.NotContains(t, text, "WARNING")
	words := strings.Join(strings.Fields(text), " ")
	require.Contains(t, words, "(0.3 MB, without memtables) has room for all filters and a part of")
	require.Contains(t, words, `"again" marks the second turn of a filter in each round`)
	o.Runs[1].BetweenChecks = 0
	require.Contains(t, textOf(t, o), "WARNING: pebblev2, builtin: NO FILTER WAS EVER CONSULTED")

	o.Filters[0] = engine.RibbonL6 // which no engine ran
	require.Equal(t, "0.50", lines(textOf(t, o), "pebblev2", "ribbon again")[1])

	// A run that was interrupted before it timed anything.
	o.Runs = o.Runs[:3]
	text = textOf(t, o)
	require.NotContains(t, text, "Speed")
	require.NotContains(t, text, "ribbon again")
	require.Equal(t, "4.0 [2.2 to 7.2]", lines(text, "pebblev2", "bloom")[1])
}

// In real engines the small cache has room for the filters, also of few keys, or of large filters
// beside small values, and not for all of the data: filters save reads. The large one has room for
// all of it.
func TestFiltersSaveReads(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, size := range []struct {
		engines           []engine.Engine
		keys, value, bits int
		cached            bool
	}{{engine.Engines, 10_000, 100, 10, false}, {engine.Engines[:1], 150_000, 0, 30, false},
		{engine.Engines, 10_000, 100, 10, true}} {
		c, _ := config(t, new(memory))
		c.Engines, c.Filters = size.engines, []string{engine.None, "bloom"}
		c.Keys = decimals(size.keys, 2000)
		c.ValueSize, c.Bits, c.Reads, c.Rounds = size.value, size.bits, 2000, 1
		c.Disk, c.Cached = 0, size.cached
		runs, err := run(context.Background(), c)
		require.NoError(t, err)
		for _, e := range c.Engines {
			all := Runs(runs)
			with, without := all.Of(e.Name, "bloom")[0], all.Of(e.Name, engine.None)[0]
			counted := runs[slices.IndexFunc(runs, func(r Run) bool {
				return r.Engine == e.Name && r.Contestant == "bloom" && r.Round == 0
			})]
			require.Positive(t, counted.BetweenChecks)
			if size.cached {
				require.Zero(t, with.Miss.Reads+without.Miss.Reads+with.Hit.Reads, e.Name)
				require.Zero(t, counted.BetweenReads, e.Name)
			} else {
				require.Less(t, with.Miss.Reads, without.Miss.Reads/2, e.Name)
				require.InDelta(t, with.Miss.Reads, counted.Reads()/1000, 0.02, e.Name)
			}
		}
	}
}

// With goleveldb's defaults misses write. Without seek compactions they do not; with room for fewer
// tables, or for less than filters and indexes, they read.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c, _ := config(t, new(memory))
	c.Engines, c.Filters, c.Keys = engine.Engines[:1], []string{"ribbon"}, decimals(20_000, 400)
	c.ValueSize, c.Reads, c.Rounds, c.Disk, c.BaseLg = 100, 400, 1, 0, 11
	o := &Outcome{Config: c}
	runs, err := run(context.Background(), c)
	require.NoError(t, err)
	o.Runs = runs
	require.Contains(t, textOf(t, o), "goleveldb with ribbon filters and 2 MB of data: what misses cost")
	cells := map[string][]float64{}
	for _, row := range o.settingsTable().Rows {
		for _, cell := range row[1:] {
			x, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
			cells[row[0]] = append(cells[row[0]], x)
		}
	}
	require.Len(t, cells, 4)
	for _, s := range settings {
		read, written := cells[s.name][0], cells[s.name][1]
		t.Logf("%s: %v reads, %v MiB", s.name, read, written)
		require.Equal(t, s.misses > 1, read < 0.1, s.name)
		require.Equal(t, strings.Contains(s.name, " on"), written > 0, s.name)
	}
	require.Len(t, o.filters().Rows, 1)
}

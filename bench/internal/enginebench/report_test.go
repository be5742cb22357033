package enginebench

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// threeRounds returns an outcome whose contestants miss at 100, 200 and 300 thousand lookups/s
// without a filter, at twice that with the engine's own, and at four times that with exact and
// ribbon.
func threeRounds(t *testing.T) *Outcome {
	c, _ := config(t, new(memory))
	c.Engines = engine.Engines[2:] // Pebble v2
	c.Filters = []string{engine.None, engine.BuiltIn, "bloom", "ribbon"}
	c.Reads, c.Rounds = 100, 3
	o := &Outcome{Config: c}
	for round := 1; round <= 3; round++ {
		for i, contestant := range c.Contestants() {
			r := Run{Engine: "pebblev2", Contestant: contestant, Round: round, Load: 5000,
				Passes: c.passes(), BetweenLookups: 100}
			speed := round * 100_000 * []int{1, 2, 4, 4, 5}[i]
			for j, perSecond := range []int{speed, 70_000, 500, 600, 900_000, 80_000} {
				r.Passes[j].PerSecond = float64(perSecond)
				r.Passes[j].Reads = []float64{5, 1.5, 1, 0.5, 0.5}[i]
			}
			if contestant != engine.None {
				r.BetweenChecks, r.BetweenAvoided = 250, []int64{0, 200, 240, 249, 249}[i]
				r.Filters, r.FilterBytes, r.Keys = 10, 1250, 1000
			}
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

// line returns the cells of the nth table row that begins with the given cells.
func line(t *testing.T, text string, nth int, first ...string) []string {
	for _, l := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(l, "│"), "│")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) > len(first) &&
			strings.Join(cells[:len(first)], "|") == strings.Join(first, "|") {
			if nth--; nth == 0 {
				return cells[len(first):]
			}
		}
	}
	require.Fail(t, "no row "+strings.Join(first, " "), text)
	return nil
}

func TestText(t *testing.T) {
	o := threeRounds(t)
	text := textOf(t, o)
	for contestant, want := range map[string]string{
		"none":         "5000 200000 70000 500 600 900000 80000",
		"builtin":      "1.00 2.00 1.00 1.00 1.00 1.00 1.00",
		"ribbon again": "1.00 5.00 1.00 1.00 1.00 1.00 1.00",
	} {
		require.Equal(t, strings.Fields(want), line(t, text, 1, "pebblev2", contestant))
	}
	require.Equal(t, strings.Fields("800000 1.0000 70000 1.0000 500 1.0000 600 1.0000"),
		line(t, text, 2, "pebblev2", "bloom"))
	require.Equal(t, []string{"2.50", "2.40", "4.00", "100", "1.250", "0.00"},
		line(t, text, 3, "pebblev2", "bloom"))
	require.NotContains(t, text, "WARNING")
	require.Contains(t, strings.Join(strings.Fields(text), " "), "The small block cache (0.3 MB, "+
		"besides memtables) has room for all filters and a part of the data, the large one (8.4 "+
		"MB) for all.")
}

func TestWarnings(t *testing.T) {
	o := threeRounds(t)
	require.Empty(t, o.warnings())
	o.Bits = 9.5
	for i := range o.Runs {
		switch r := &o.Runs[i]; {
		case r.Contestant == "builtin" && r.Round == 1:
			r.BetweenChecks = 0
		case r.Contestant == "bloom" && r.Round == 2:
			r.BetweenChecks, r.BetweenAvoided = 100, 99
		case r.Contestant == "ribbon" && r.Round == 3:
			r.Passes[0].Reads = 4.6 // without filters it is 5
		case r.Contestant == "ribbon again": // within the tolerance
			r.BetweenChecks = 254
		}
	}
	require.Equal(t, []string{
		"engines' own filters take whole bits per key: builtin has 10, the others have 9.5",
		"pebblev2, builtin, round 1: NO FILTER WAS EVER ASKED for absent keys: the speed says " +
			"nothing about filters",
		"pebblev2, bloom, round 2: its filters were asked 100 times, those of ribbon 250 times. " +
			"The trees differ, so not all of the difference in speed is the filter's",
		"pebblev2, ribbon, round 3: its filters answered \"absent\" to most checks, and yet reads " +
			"fell by less than a tenth. The small block cache has no room for filters, or has room " +
			"for all of the data: the speed says nothing about filters",
	}, o.warnings())
	// A filter that seldom answers "absent" saves few reads, and that is so.
	o = threeRounds(t)
	for i := range o.Runs {
		if r := &o.Runs[i]; r.Contestant == "builtin" {
			r.BetweenAvoided, r.Passes[0].Reads = 100, 4.9
		}
	}
	require.Empty(t, o.warnings())
}

// In real engines the small cache has room for the filters, also of few keys, or of large filters
// beside small values, and not for all of the data: filters save reads.
func TestFiltersSaveReads(t *testing.T) {
	for _, size := range []struct {
		engines     []engine.Engine
		keys, value int
		bits        float64
	}{{engine.Engines, 10_000, 100, 10}, {engine.Engines[:1], 150_000, 0, 30}} {
		c, _ := config(t, new(memory))
		set, err := keys.NewSet(c.Keys.Shape(), keys.Densities[0], size.keys, 2000, 1)
		require.NoError(t, err)
		c.Engines, c.Filters, c.Keys = size.engines, []string{engine.None, "bloom"}, set
		c.ValueSize, c.Bits, c.Reads, c.Rounds = size.value, size.bits, 2000, 1
		c.Disks = c.Disks[:1]
		o := &Outcome{Config: c}
		o.Runs, err = run(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, o.warnings())
		for _, e := range c.Engines {
			reads := c.passes()[0].Of(Reads)
			require.Less(t, o.Runs.Of(e.Name, "bloom").Median(reads),
				o.Runs.Of(e.Name, engine.None).Median(reads)/2, e.Name)
		}
	}
}

package enginebench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
	c.Filters = []string{engine.None, engine.BuiltIn, "exact", "ribbon"}
	c.Reads, c.Rounds, c.Threads = 100, 3, []int{8}
	o := &Outcome{Config: c}
	for round := 1; round <= 3; round++ {
		for i, contestant := range c.Contestants() {
			r := Run{
				Engine: "pebblev2", Contestant: contestant, Round: round, Load: 5000,
				Passes: c.passes(), BetweenLookups: 100, BeyondLookups: 100,
				Levels: []engine.Level{
					{Level: 0, Tables: 2, Bytes: 3e6},
					{Level: 1},
					{Level: 2, Tables: 4, Bytes: 5e6},
				},
			}
			speed := round * 100_000 * []int{1, 2, 4, 4, 5}[i]
			for j, perSecond := range []int{speed, 70_000, 500, 600, 900_000, 80_000} {
				p := &r.Passes[j]
				p.PerSecond, p.P50, p.P99, p.P999 = float64(perSecond), 1, 22, 333
				p.Reads = []float64{5, 1.5, 1, 0.5, 0.5}[i]
			}
			r.Passes[0].P50 = []float64{20, 10, 10.5, 11, 11.25}[i] + 100*float64(round)
			if contestant != engine.None {
				r.BetweenChecks, r.BetweenAvoided = 250, []int64{0, 200, 240, 249, 249}[i]
				r.BeyondChecks, r.BeyondAvoided = 100, 99
				l := &r.Levels[0]
				l.Filters, l.FilterBytes, l.Keys, l.KeysPerFilter = 2, 125, 100, 50
				l.Checks, l.Avoided = 50, 40
				l = &r.Levels[2]
				l.Filters, l.FilterBytes, l.Keys, l.KeysPerFilter = 4, 1125, 900, 150
				l.Checks, l.Avoided = 200, 199
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
	require.NoError(t, r.WriteText(&b, 100))
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
		"none":         "5.0 200.0 70.0 0.5 0.6 900.0 80.0",
		"builtin":      "1.00 2.00 1.00 1.00 1.00 1.00 1.00",
		"ribbon again": "1.00 5.00 1.00 1.00 1.00 1.00 1.00",
	} {
		require.Equal(t, strings.Fields(want), line(t, text, 1, "pebblev2", contestant))
	}
	require.Equal(t, strings.Fields("500 1 22 333 1.50"),
		line(t, text, 1, "pebblev2", "1µs", "8", "builtin")[:5])
	// Of builtin: 10 us less and 3.5 reads fewer than none. Of exact: 0.5 us more and 0.5 reads
	// fewer than builtin, and 0.25 us of noise.
	require.Equal(t, []string{"0.0", "", "", ""}, line(t, text, 2, "pebblev2", "builtin"))
	require.Equal(t, []string{"0.0", "1.5", "", ""}, line(t, text, 2, "pebblev2", "exact"))
	require.Equal(t, []string{"0.0", "1.2", "1.5", ""}, line(t, text, 2, "pebblev2", "ribbon"))
	require.Equal(t, []string{"2.50", "2.40", "4.00", "1.00", "140", "1.250", "0.00"},
		line(t, text, 3, "pebblev2", "exact"))
	require.Equal(t, []string{"2", "3.0", "50", "0.000", "20.00", "20.00", "20.00"},
		line(t, text, 1, "L0"))
	require.Equal(t, []string{"4", "5.0", "150", "0.001", "0.50", "0.50", "0.50"},
		line(t, text, 1, "L2"))
	require.NotContains(t, text, "L1 ")
	require.NotContains(t, text, "WARNING")
	require.Contains(t, strings.Join(strings.Fields(text), " "), "The small block cache (0.3 MB) has "+
		"room for all filters and a part of the data, the large one (8.4 MB) for all. Both are "+
		"larger where memtables take a part of them: pebblev2's by 0.8 MB.")
	conclusion := strings.Join(strings.Fields(text[strings.Index(text, "Conclusion"):]), " ")
	for _, want := range []string{
		"With ribbon instead of no filter, small cache: pebblev2: misses 4.0 times, hits 1.0 " +
			"times as fast.",
		"avoids: pebblev2: builtin 80.0 %, exact 96.0 %, ribbon 99.6 %.",
		"Use ribbon (policy.NewRibbon), or exact (policy.NewBloom) if C++ LevelDB or " +
			"another reader",
		"Ignore differences in speed below 25 %",
		"Filters pay from these read latencies on, pebblev2 with decimal keys: builtin instead " +
			"of none from 0.0 us; exact instead of builtin from 1.5 us; ribbon instead of exact " +
			"from 1.5 us.",
	} {
		require.Contains(t, conclusion, want)
	}
}

// Lookups that ask L6 have a table and a line of their own: what they gain and what they cost.
func TestL6(t *testing.T) {
	o := threeRounds(t)
	o.Filters = []string{engine.None, engine.RibbonL6, "ribbon"}
	for i := range o.Runs {
		r := &o.Runs[i]
		r.Contestant = map[string]string{
			"none": "none", "exact": engine.RibbonL6, "ribbon": "ribbon", "builtin": "exact",
		}[r.Contestant]
		r.Passes = append(r.Passes, o.rewrittenPasses()...)
		for j := range r.Passes {
			p := &r.Passes[j]
			asks := r.Contestant == engine.RibbonL6
			p.PerSecond = 1000
			switch {
			case p.Keys == Miss && asks:
				p.PerSecond, p.Reads = 30_000, 0.0005
			case p.Keys == Rewritten && asks:
				p.PerSecond, p.Reads = 500, 1.5
			default:
				p.Reads = 0.75
			}
		}
	}
	text := textOf(t, o)
	require.Equal(t, strings.Fields("30000 0.0005 1000 0.7500 500 1.5000"),
		line(t, text, 1, "pebblev2", "1µs", engine.RibbonL6))
	require.Equal(t, strings.Fields("1000 0.7500 1000 0.7500 1000 0.7500"),
		line(t, text, 1, "pebblev2", "0s", "ribbon"))
	require.Contains(t, strings.Join(strings.Fields(text), " "), "pebblev2: the adapter's Get, "+
		"with filters in L6, needs 0.0005 reads per miss instead of 0.7500. If a read takes 1µs, "+
		"misses are 30.0 times as fast, hits 1.00 times, and hits of keys that also lie in a "+
		"lower level 0.50 times.")
	o.Filters = []string{engine.None, "ribbon"}
	o.Runs = slices.DeleteFunc(o.Runs, func(r Run) bool { return r.Contestant == engine.RibbonL6 })
	require.NotContains(t, textOf(t, o), "L6:")
}

// Exact is the advice unless another kind gains something.
func TestAdvice(t *testing.T) {
	o := threeRounds(t)
	for i := range o.Runs {
		if o.Runs[i].Contestant == "exact" {
			o.Runs[i].BetweenAvoided = 249
		}
	}
	require.Contains(t, textOf(t, o), "Use exact (policy.NewBloom). Ignore")
	o.Runs = o.Runs[:1]
	require.NotContains(t, textOf(t, o), "Conclusion", "of one run nothing follows")
}

func TestWarnings(t *testing.T) {
	o := threeRounds(t)
	require.Empty(t, o.warnings())
	o.Bits = 9.5
	for i := range o.Runs {
		switch r := &o.Runs[i]; {
		case r.Contestant == "builtin" && r.Round == 1:
			r.BetweenChecks = 0
		case r.Contestant == "builtin" && r.Round == 2:
			r.BeyondChecks = 0
		case r.Contestant == "exact" && r.Round == 2:
			r.BetweenChecks = 100
		case r.Contestant == "ribbon again": // within the tolerance
			r.BetweenChecks = 254
		}
	}
	const none = "NO FILTER WAS EVER ASKED for absent keys between or beyond the present keys: " +
		"the speed says nothing about filters"
	require.Equal(t, []string{
		"engines' own filters take whole bits per key: builtin has 10, the others have 9.5",
		"pebblev2, builtin, round 1: " + none,
		"pebblev2, builtin, round 2: " + none,
		"pebblev2, exact, round 2: its filters were asked 100 times, those of ribbon 250 times. " +
			"The trees differ, so not all of the difference in speed is the filter's",
	}, o.warnings())
}

// Filters that answered "absent" and saved no reads are in vain: of their engine's speed nothing is
// concluded.
func TestFiltersInVain(t *testing.T) {
	for _, reads := range []float64{5, 0} { // no filter is cached; all data are
		o := threeRounds(t)
		for i := range o.Runs {
			r := &o.Runs[i]
			r.Passes[0].Reads = reads
			if r.Contestant == engine.None {
				r.Passes[0].Reads = 0.999 * reads
			}
		}
		var inVain []string
		for _, contestant := range []string{"builtin", "exact", "ribbon", "ribbon again"} {
			inVain = append(inVain, fmt.Sprintf("pebblev2, %s: its filters answered \"absent\" to "+
				"%.0f %% of the checks, and yet a miss has %.2f reads, without filters %.2[3]f. ",
				contestant, o.median(o.Engines[0], contestant, avoided), reads))
		}
		warnings := o.warnings()
		require.Len(t, warnings, len(inVain))
		for i, want := range inVain {
			require.Contains(t, warnings[i], want)
		}
		text := textOf(t, o)
		require.Contains(t, text, "Use ribbon", "what the filters answered was counted")
		require.NotContains(t, text, "times as fast.")
		require.NotContains(t, text, "Filters pay from")
	}
	// A filter that seldom answers "absent" saves few reads, and that is so.
	o := threeRounds(t)
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
		c.Engines, c.Filters, c.Keys = size.engines, []string{engine.None, "exact"}, set
		c.ValueSize, c.Bits, c.Reads, c.Rounds = size.value, size.bits, 2000, 1
		c.Disks, c.Threads = c.Disks[:1], c.Threads[:1]
		o := &Outcome{Config: c}
		o.Runs, err = run(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, o.warnings())
		for _, e := range c.Engines {
			with, without, _ := o.readsPerMiss(e, "exact")
			t.Logf("%s, %d keys: %.2f reads per miss, without filters %.2f", e.Name, size.keys,
				with, without)
			require.Less(t, with, without/2)
		}
	}
}

package enginebench

import (
	"context"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// TestResultsAreGenerated of bench has tables of real runs. In this one filters were never consulted,
// and it was interrupted: nothing was timed, and then an engine that does not have the first filter.
func TestReport(t *testing.T) {
	c, _ := config(t, new(memory))
	c.Filters = []string{engine.RibbonL6, "bloom"}
	o := &Outcome{Config: c, Runs: Runs{{Engine: "goleveldb", Contestant: "bloom", BetweenLookups: 9}}}
	text := func() string {
		r := new(report.Report)
		o.Report(r)
		var b strings.Builder
		require.NoError(t, r.WriteText(&b))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	require.Contains(t, text(), "WARNING: goleveldb, bloom: NO FILTER WAS EVER CONSULTED")
	require.Contains(t, text(), "(0.3 MB, without memtables) has room for all filters and a part of")
	require.NotContains(t, text(), "Speed")
	o.Runs[0].BetweenChecks = 9
	require.NotContains(t, text(), "WARNING")
	timed := Run{Engine: "goleveldb", Contestant: "bloom", Round: 1, Miss: Pass{1000, 0.5}}
	o.Runs = append(o.Runs, timed)
	require.Contains(t, text(), "│ goleveldb │ bloom │ │ 0.50 │")
}

var large = flag.Bool("large", false,
	"also run what takes long, or what time and chance decide: .ci/nightly does")

// In real engines the small cache has room for the filters, also of large filters beside small
// values, and not for all of the data: filters save reads. The large one has room for all of it.
func TestFiltersSaveReads(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, size := range []struct {
		engines           []engine.Engine
		keys, value, bits int
		cached            bool
	}{{engine.Engines, 5000, 100, 10, false}, {engine.Engines, 5000, 100, 10, true},
		{engine.Engines[:1], 150_000, 0, 30, false}} {
		if size.keys > 5000 && !*large {
			continue
		}
		c, _ := config(t, new(memory))
		c.Engines, c.Filters = size.engines, []string{"bloom", engine.None}
		c.Keys = decimals(size.keys, 1000)
		c.ValueSize, c.Bits, c.Reads, c.Rounds = size.value, size.bits, 1000, 1
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
				reads := float64(counted.BetweenReads) / float64(counted.BetweenLookups)
				require.Less(t, reads, without.Miss.Reads/2, e.Name)
			}
		}
	}
}

// Without seek compactions misses do not write; with room for fewer tables, or for less than filters
// and indexes, they read. With goleveldb's defaults they write, if its compactions are in time.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c, _ := config(t, new(memory))
	c.Engines, c.Filters, c.Keys = engine.Engines[:1], []string{"ribbon"}, decimals(20_000, 200)
	c.ValueSize, c.Reads, c.Rounds, c.Disk, c.BaseLg = 100, 200, 1, 0, 11
	o := &Outcome{Config: c}
	runs, err := run(context.Background(), c)
	require.NoError(t, err)
	o.Runs = runs
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
		if !strings.Contains(s.name, " on") {
			require.Zero(t, written, s.name)
		} else if *large {
			require.Positive(t, written, s.name)
		}
	}
	require.Len(t, o.filters().Rows, 1)
}

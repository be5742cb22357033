package enginebench

import (
	"context"
	"flag"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

func text(t *testing.T, c *Config, all Records) string {
	r := new(report.Report)
	c.Report(r, all)
	var b strings.Builder
	require.NoError(t, r.WriteText(&b))
	return b.String()
}

// The conclusion says what was counted, of any engines and filters, and nothing else.
func TestConclusion(t *testing.T) {
	c, _ := config(t, new(memory))
	all := []Counted{
		{Engine: "goleveldb", Filter: engine.None, Lookups: 1000, Reads: 4580},
		{Engine: "goleveldb", Filter: engine.BuiltIn, Lookups: 1000, Reads: 138},
		{Engine: "goleveldb", Filter: "ribbon", Lookups: 10_000, Reads: 44},
		{Engine: "pebblev2", Filter: "ribbon", Lookups: 1000, Reads: 904},
		{Engine: "pebblev2", Filter: engine.RibbonL6, Lookups: 1000, Reads: 6},
	}
	for _, test := range []struct {
		counted []Counted
		want    string
	}{
		{nil, ""},
		{all, "goleveldb reads 4,580 blocks for 1,000 absent keys without filters, 138 with its " +
			"own, 4.4 with ribbon; pebblev2 904 with ribbon, 6.0 with ribbon in L6 too and the " +
			"adapter's Get."},
		{all[3:4], "pebblev2 reads 904 blocks for 1,000 absent keys with ribbon."},
	} {
		require.Equal(t, test.want, c.conclusion(test.counted))
		printed := strings.Join(strings.Fields(text(t, c, Records{Counted: test.counted})), " ")
		require.True(t, strings.HasPrefix(printed, test.want), printed)
	}
	c.Cached = true
	require.Contains(t, c.conclusion(all), " Get. All data is cached, so filters have no reads")
}

// Tables have what was measured before an interruption: some filters were counted and not timed, or
// the first one is none of an engine's.
func TestReport(t *testing.T) {
	c, _ := config(t, new(memory))
	all := Records{Counted: []Counted{{Engine: "goleveldb", Filter: "bloom", Lookups: 8}}} // no bars
	require.NotContains(t, text(t, c, all), "Lookups per second")
	for _, base := range []string{engine.RibbonL6, "bloom"} {
		c.Filters = []string{base, "bloom"}
		all.Timed = []Timed{{Engine: "goleveldb", Filter: "bloom", Round: 1, Miss: Pass{1000, 0.5},
			Hit: Pass{2000, 1}}}
		for _, c.All = range []bool{false, true} {
			got := strings.Join(strings.Fields(text(t, c, all)), " ")
			require.Contains(t, got, "goleveldb bloom ")
			require.Equal(t, base == "bloom", strings.Contains(got, " 1,000/s 2,000/s "), got)
			require.Equal(t, c.All, strings.Contains(got, "rewritten"), got)
		}
	}
}

var large = flag.Bool("large", false,
	"also run what takes long, or what time and chance decide: .ci/nightly does")

// In real engines the small cache has room for the filters, and not for all of the data: filters
// save reads. The large one has room for all of it.
func TestFiltersSaveReads(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, cached := range []bool{false, true} {
		c, _ := config(t, new(memory))
		c.Engines, c.Filters = engine.Engines, []string{"bloom", engine.None}
		c.Keys, c.Disk, c.Cached = decimals(5000, 1000), 0, cached
		records, err := run(context.Background(), c)
		require.NoError(t, err)
		for i, e := range c.Engines {
			bloom, none := records.Counted[2*i], records.Counted[2*i+1]
			if cached {
				hits := records.of(e.Name, engine.None)[0].Hit.Reads
				require.Zero(t, hits+float64(bloom.Reads+none.Reads), e.Name)
			} else {
				require.Less(t, bloom.Reads, none.Reads/2, e.Name)
			}
		}
	}
}

// Without seek compactions, lookups of absent keys do not write. With room for fewer tables, or for
// less than filters and indexes, they read. With goleveldb's defaults they write, if its
// compactions are in time.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c, _ := config(t, new(memory))
	c.Engines, c.Filters, c.Keys = engine.Engines[:1], []string{"ribbon"}, decimals(20_000, 800)
	c.All, c.Disk = true, 0
	records, err := run(context.Background(), c)
	require.NoError(t, err)
	cells := map[string][]float64{}
	for _, row := range c.settingsTable(records).Rows {
		for _, cell := range row[1:] {
			x, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
			require.NoError(t, err)
			cells[row[0]] = append(cells[row[0]], x)
		}
	}
	require.Len(t, cells, 4)
	for _, s := range settings {
		read, written := cells[s.name][0], cells[s.name][1]
		t.Logf("%s: %v reads per 1,000, %v MiB", s.name, read, written)
		require.Equal(t, s.times > 1, read < 100, s.name)
		if !strings.Contains(s.name, " on") {
			require.Zero(t, written, s.name)
		} else if *large {
			require.Positive(t, written, s.name)
		}
	}
}

package labreport

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// The page and the picture come from results.json alone: made again from it, they are the same.
func TestAgain(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	require.NoError(t, results(t).Write(first))
	read, err := Read(filepath.Join(first, ResultsFile))
	require.NoError(t, err)
	require.NoError(t, read.Write(second))
	for _, name := range []string{ResultsFile, PageFile, PictureFile} {
		a, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(second, name))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b), name)
	}
}

func TestVerdict(t *testing.T) {
	r := results(t)
	require.Equal(t, "Use ribbon filters: 1.0\u00a0% false positives instead of 9.0\u00a0% in "+
		"goleveldb", r.Verdict())
	p, err := r.decode()
	require.NoError(t, err)
	all := cards(advices(p.engines), 10, builds(p.speeds))
	require.Len(t, all, 2)
	require.Equal(t, "filter.NewBloomFilter(10)", all[0].Before)
	require.Equal(t, "p, err := policy.NewRibbon(10)", all[0].After)
	costs := strings.Join(all[0].Costs, "\n")
	require.Contains(t, costs, "Memory: 1.25 MB of filters per million keys; now 1.25 MB.")
	require.Contains(t, costs, "Needless reads: 40 per 1,000 misses; now 360. If a read takes 100 "+
		"µs, a miss waits 4.0 µs for them on average; now 36 µs.")
	require.Contains(t, costs, "Building filters is 3.0 times as fast as with goleveldb's own. "+
		"Loading a database: as fast as now, within noise (3 %).")
	require.Equal(t, &instead{
		"Tuned", "if C++ LevelDB or another reader of LevelDB's filters reads the tables too",
		"p, err := policy.NewBloom(10, policy.WithTuning(0.05))", all[0].Instead.Cost,
	}, all[0].Instead)
	require.Contains(t, all[0].Instead.Cost, "2.0\u00a0% false positives")

	// Builds are compared with the engine's own filter.
	ratios := []speedRatio{{contestant: "pebblev2", base: "goleveldb", middle: 4},
		{contestant: "ribbon", base: "goleveldb", middle: 2}}
	of := func(engine string) string {
		return advice{Engine: engine}.speed(choice{Filter: "ribbon"}, ratios)
	}
	require.Equal(t, "Building filters is 2.0 times as fast as with goleveldb's own. ",
		of("goleveldb"))
	require.Equal(t, "Building filters takes 2.0 times as long as with Pebble v2's own. ",
		of("pebblev2"))
}

// Without filters each check would be a read, and a bar shows the extremes.
func TestFigures(t *testing.T) {
	p, err := results(t).decode()
	require.NoError(t, err)
	require.Equal(t, []string{"none", "", "4,000", "400", "", "1.00"},
		choiceTable(advices(p.engines)[0]).Rows[0])
	for i := range p.speeds {
		if r := &p.speeds[i]; r.Contestant == "exact" && r.Round%4 == 0 {
			r.Ns *= 2
		}
	}
	ratio := builds(p.speeds)[1]
	require.Equal(t, "exact", ratio.contestant)
	require.InDelta(t, 2, ratio.middle, 0.05)
	require.InDelta(t, 1, ratio.low, 0.05)
}

// If no filter is better than the engine's own, the page says so.
func TestNothingToGain(t *testing.T) {
	r := results(t)
	p, err := r.decode()
	require.NoError(t, err)
	for i := range p.engines {
		if _, ok := rates[p.engines[i].Contestant]; ok {
			p.engines[i].BetweenAvoided = 3960
		}
	}
	require.Contains(t, headline(advices(p.engines)), "Keep your engine's own filters: 1.0\u00a0%")
	card := cards(advices(p.engines), 10, nil)[0]
	require.True(t, card.Keep)
	require.Empty(t, card.Rough, "120 false positives")
	require.Equal(t, "What filters do", headline(nil))
}

func TestRoughVerdict(t *testing.T) {
	p, err := results(t).decode()
	require.NoError(t, err)
	for i := range p.engines {
		p.engines[i].BetweenAvoided = p.engines[i].BetweenChecks - 33 // in each of 3 rounds
	}
	require.Equal(t, "A rough verdict: only 99 false positives of the engine's own filter were "+
		"counted. Measure with more keys.", cards(advices(p.engines), 10, nil)[0].Rough)
}

func TestBitsTable(t *testing.T) {
	p, err := results(t).decode()
	require.NoError(t, err)
	table := bitsTable(p.tradeOff)
	require.Equal(t, []string{"filter", "1\u00a0%, goleveldb: 36 keys per filter",
		"0.1\u00a0%, goleveldb: 36 keys per filter", "1\u00a0%, Pebble: 10k keys per filter",
		"0.1\u00a0%, Pebble: 10k keys per filter"}, table.Columns)
	require.Equal(t, [][]string{
		{"exact", "not reached", "not reached", "not reached", "not reached"},
		{"tuned", "8", "not reached", "8", "not reached"},
		{"ribbon", "4", "not reached", "4", "not reached"},
	}, table.Rows)
}

// A part that failed is missing on the page, and named.
func TestMissingParts(t *testing.T) {
	r := results(t)
	r.Parts = r.Parts[1:]
	r.Parts[0].Error, r.Parts[0].Report.Records = "no <room>", nil
	var page bytes.Buffer
	require.NoError(t, r.WritePage(&page))
	require.Contains(t, page.String(), "Incomplete. tradeoff: no &lt;room&gt;.")
	r.Parts[1].Name = "other"
	require.ErrorContains(t, r.WritePage(&page), `no part is named "other"`)
}

// change changes the records of a part.
func change[T any](t *testing.T, r *Results, part string, f func(*T)) {
	for i := range r.Parts {
		if r.Parts[i].Name == part {
			var records []T
			require.NoError(t, json.Unmarshal(r.Parts[i].Report.Records, &records))
			for j := range records {
				f(&records[j])
			}
			data, err := json.Marshal(records)
			require.NoError(t, err)
			r.Parts[i].Report.Records = data
		}
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, results(t).Write(dir))
	old := filepath.Join(dir, ResultsFile)
	r := results(t)
	require.NoError(t, r.Compare(old))
	require.Empty(t, r.Compared.Better)
	require.Empty(t, r.Compared.Worse)
	require.Zero(t, r.Compared.Missing)
	require.Equal(t, leastNoise, r.Compared.Noise)
	same := r.Compared.Same
	require.Greater(t, same, 40)

	// Intervals that overlap are noise, others are not.
	move := func(kind string, by float64) {
		change(t, r, Shapes, func(x *ratebench.Record) {
			if x.Kind == kind && x.Shape == "random" && x.N == 36 {
				x.FPR, x.Low, x.High = by*x.FPR, by*x.Low, by*x.High
			}
		})
	}
	move("exact", 1.1)
	move("tuned", 0.5)
	move("ribbon", 2)
	require.NoError(t, r.Compare(old))
	require.Equal(t, []Change{{"false positives: tuned, random 63%, goleveldb: 36 keys per " +
		"filter, 10 bits per key", "2.0\u00a0% [1.8\u00a0% to 2.2\u00a0%]",
		"1.0\u00a0% [0.90\u00a0% to 1.1\u00a0%]"}},
		r.Compared.Better)
	require.Len(t, r.Compared.Worse, 1)
	require.Contains(t, r.Compared.Worse[0].Figure, "ribbon")
	require.Equal(t, same-2, r.Compared.Same)

	r = results(t)
	r.Parts = r.Parts[:3]
	require.NoError(t, r.Compare(old))
	require.Equal(t, 6, r.Compared.Missing)
	require.ErrorContains(t, r.Compare(filepath.Join(dir, PageFile)), PageFile)
}

// A speed counts as changed only beyond the noise of the same code in either run.
func TestCompareSpeeds(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, results(t).Write(dir))
	old := filepath.Join(dir, ResultsFile)
	r := results(t)
	faster := func(name string, by float64) {
		change(t, r, Speeds, func(x *struct {
			Work       string  `json:"work"`
			Mix        string  `json:"keys"`
			N          int     `json:"n"`
			Length     int     `json:"key_bytes"`
			Contestant string  `json:"contestant"`
			Round      int     `json:"round"`
			Ns         float64 `json:"ns_per_key"`
		}) {
			if x.Contestant == name && x.Work == "build" {
				x.Ns /= by
			}
		})
	}
	faster("exact", 1.2)
	faster("ribbon", 1/1.2)
	require.NoError(t, r.Compare(old))
	require.Len(t, r.Compared.Better, 1)
	require.Contains(t, r.Compared.Better[0].Figure, "build, 10k keys per filter: exact")
	require.Len(t, r.Compared.Worse, 1)
	require.Contains(t, r.Compared.Worse[0].Figure, "ribbon")
	require.Empty(t, r.Compared.Keys)
	r.Keys = "others"
	require.NoError(t, r.Compare(old))
	require.Equal(t, results(t).Keys, r.Compared.Keys)

	// An engine's speed of a single round is no evidence.
	rounds := func(last int) *Results {
		r := results(t)
		change(t, r, Engines, func(x *enginebench.Run) {
			x.Round = min(x.Round, last)
			if x.Contestant == "ribbon" {
				x.Load *= 2
			}
		})
		return r
	}
	few, many := rounds(1), rounds(3)
	require.NoError(t, few.Compare(old))
	require.Empty(t, few.Compared.Better)
	require.NoError(t, many.Compare(old))
	require.Len(t, many.Compared.Better, 2)

	faster("goleveldb again", 1.3)
	require.NoError(t, r.Compare(old))
	require.InDelta(t, 0.3, r.Compared.Noise, 0.001)
	require.Empty(t, r.Compared.Better)
	require.Empty(t, r.Compared.Worse)
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.000123: "0.00012", 0.0996: "0.10", 1.04: "1.0", 12.3: "12", 99.6: "100",
		1234: "1,200", 1.26e7: "13,000,000",
	} {
		require.Equal(t, want, digits(x, 2))
	}
	require.Equal(t, "100\u00a0%", percent(1))
	require.Equal(t, "0.13\u00a0%", percent(0.00134))
}

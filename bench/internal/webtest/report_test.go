package webtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/labreport"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// evil is what a path or a key may contain.
const evil = `/tmp/<script>alert("x")</script>'&`

// results returns the results of a run that never was.
func results(t *testing.T) *labreport.Results {
	var runs []enginebench.Run
	for _, e := range []string{"goleveldb", "pebblev2"} {
		for i, name := range []string{engine.None, engine.BuiltIn, "tuned", "ribbon"} {
			r := enginebench.Run{Engine: e, Contestant: name, Round: 1, Load: 1e5,
				BetweenLookups: 1000, Passes: []enginebench.Pass{{Keys: enginebench.Miss}}}
			if name != engine.None {
				r.BetweenChecks, r.BetweenAvoided = 4000, []int64{0, 3600, 3950, 3990}[i]
				r.FilterBytes, r.Keys = 1250, 1000
			}
			runs = append(runs, r)
		}
	}
	var trade []ratebench.Record
	for _, n := range []int{36, 10_000} {
		for i, kind := range []string{"bloom", "tuned", "ribbon"} {
			for _, bits := range []float64{4, 8, 10, 16} {
				rate := []float64{0.09, 0.02, 0.01}[i] * 4 / bits
				trade = append(trade, ratebench.Record{Kind: kind, Shape: "own", N: n, Bits: bits,
					FilterBytes: bits * float64(n) / 8, FalsePositives: int(rate * 1e5), FPR: rate})
			}
		}
	}
	r := &labreport.Results{Command: "go run ./bench report -keys " + evil, Bits: 10, Own: true,
		Keys: "your own keys (5 from " + evil + ")"}
	for _, p := range []struct {
		name    string
		records any
	}{{labreport.Engines, runs}, {labreport.TradeOff, trade}} {
		data, err := json.Marshal(p.records)
		require.NoError(t, err)
		table := report.Table{Title: "A table of " + p.name, Keys: 1,
			Columns: []string{"name <b>", "rate, %"}}
		for i := range 20 {
			table.Rows = append(table.Rows, []string{evil, fmt.Sprint(i)})
		}
		r.Parts = append(r.Parts, labreport.Part{Name: p.name,
			Report: report.Report{Command: "go run ./bench " + p.name, Records: data,
				Environment: report.Environment{CPU: "Zen 99", Cores: 2, Commit: "abc"},
				Tables:      []report.Table{table},
				Notes:       []string{evil}}})
	}
	return r
}

// The page comes from results.json alone: made again from it, it is the same.
func TestReportAgain(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	require.NoError(t, results(t).Write(first))
	read, err := labreport.Read(filepath.Join(first, labreport.ResultsFile))
	require.NoError(t, err)
	require.NoError(t, read.Write(second))
	for _, name := range []string{labreport.ResultsFile, labreport.PageFile} {
		a, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(second, name))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b), name)
	}
	_, err = labreport.Read(filepath.Join(first, labreport.PageFile))
	require.ErrorContains(t, err, labreport.PageFile)
}

// Keys are shown by an example, and their density in words.
func TestInWords(t *testing.T) {
	for _, s := range keys.Shapes {
		words := labreport.InWords(s, s.Densities(keys.Densities[1:2])[0])
		if want := map[string]string{"decimal": "decimal keys such as 0000000000000042 (63 % of a " +
			"range of keys is present, ",
			"bigendian": "bigendian keys such as 0x000000000000002a (63 % ",
		}[s.Name]; !strings.HasPrefix(words, want) {
			require.Equal(t, want, words)
		}
		require.NotContains(t, words, "any")
	}
}

// Owners of goleveldb read nothing about Pebble's cache.
func TestPebbleRules(t *testing.T) {
	r := results(t)
	page := func() string {
		var b bytes.Buffer
		require.NoError(t, r.WritePage(&b))
		return b.String()
	}
	require.Contains(t, page(), "MemTableSize")
	var runs []enginebench.Run
	require.NoError(t, json.Unmarshal(r.Parts[0].Report.Records, &runs))
	var err error
	r.Parts[0].Report.Records, err = json.Marshal(runs[:len(runs)/2])
	require.NoError(t, err)
	require.NotContains(t, page(), "MemTableSize")
}

// A part that failed is missing on the page, and named.
func TestMissingParts(t *testing.T) {
	r := results(t)
	r.Parts[1].Error, r.Parts[1].Report.Records = "no <room>", nil
	var page bytes.Buffer
	require.NoError(t, r.WritePage(&page))
	require.Contains(t, page.String(), "Incomplete: no &lt;room&gt;.")
	require.NotContains(t, page.String(), "<svg")
	r.Parts[1].Name = "other"
	require.ErrorContains(t, r.WritePage(&page), `no part is named "other"`)
}

// The page in a browser: nothing is on its console, nothing is too wide, and all of it can be
// reached and read, whatever keys and paths contain.
func TestReport(t *testing.T) {
	browser := start(t)
	dir := t.TempDir()
	require.NoError(t, results(t).Write(dir))
	url := "file://" + filepath.Join(dir, labreport.PageFile)
	for _, look := range []view{{Width: 360, Dark: true}, {Width: 768}, {Width: 1400},
		{Width: 1400, Dark: true}, {Width: 700, Print: true}} {
		p := browser.Open(t, url, look)
		require.Empty(t, p.Errors())
		require.Empty(t, p.Overflow())
		var scripts, charts int
		p.Eval("document.querySelectorAll('script').length", &scripts)
		require.Zero(t, scripts)
		p.Eval("document.querySelectorAll('svg[role=img]').length", &charts)
		require.Equal(t, 2, charts)
		require.Contains(t, p.Text("h1"), "goleveldb: Use ribbon filters instead of goleveldb's own")
		require.Contains(t, p.Text("header"), evil)
		require.Contains(t, p.Text(".card pre"), "policy.WithName(policy.NameGoLevelDB)")
		require.Contains(t, p.Text(".card ul"), "If a read takes 100 us, a miss takes 39 [")
		require.Greater(t, lowestContrast(p), 4.5)
		p.Screenshot(fmt.Sprintf("report-%d-%v-%v", look.Width, look.Dark, look.Print))
		p.Eval("document.querySelectorAll('details').forEach(d => d.open = true)", new(any))
		require.Empty(t, p.Overflow())
	}
	p := browser.Open(t, url, view{Width: 768})
	controls := p.Controls()
	require.Len(t, controls, 2) // a part each
	stops := strings.Join(p.TabStops(), "\n")
	for _, control := range controls {
		require.Contains(t, stops, control)
	}
	// Charts have names and descriptions, tables have captions or labels, and headers.
	var nameless []string
	p.Eval(`[...document.querySelectorAll("svg")].filter(s =>
		!(s.querySelector("title")?.textContent && s.querySelector("desc")?.textContent))
		.concat([...document.querySelectorAll("table")].filter(t =>
		!t.closest("[aria-label]").ariaLabel || !t.querySelector("thead th[scope=col]") ||
		!t.querySelector("tbody th[scope=row]"))).map(e => e.outerHTML.slice(0, 99))`, &nameless)
	require.Empty(t, nameless)
}

// lowestContrast returns the lowest contrast of a text of a page with what is behind it.
func lowestContrast(p *page) (lowest float64) {
	p.Eval(`(() => {
		const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(x => x / 255).map(x =>
			x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
			return 0.2126 * r + 0.7152 * g + 0.0722 * b };
		const back = e => { const c = getComputedStyle(e).backgroundColor;
			return c !== "rgba(0, 0, 0, 0)" ? c : e.parentElement ? back(e.parentElement) :
				"rgb(255, 255, 255)" };
		const texts = document.querySelectorAll("p, h1, h2, td, th, li, text, strong, pre");
		return Math.min(...[...texts].map(e => { const s = getComputedStyle(e);
				const a = light(e.tagName === "text" ? s.fill : s.color), b = light(back(e));
				return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }));
	})()`, &lowest)
	return lowest
}

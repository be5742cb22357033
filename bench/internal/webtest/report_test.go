package webtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	showing "github.com/levelbloom/levelbloom/bench/internal/page"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// evil is what a path or a key may contain.
const evil = `/tmp/<script>alert("x")</script>'&`

// counted is what is said of a verdict.
var counted = showing.Counted("/data/"+evil, verdict.Of(verdict.Figures{
	Engine: "pebblev2", Cache: 64 << 20, Keys: 1e8, Bytes: 1e10, IndexBytes: 3e7, Sampled: 65_536,
	Lookups: 65_536, Levels: []verdict.Level{
		{Number: 0, Tables: 3, FilterBytes: 1e6, RibbonBytes: 1.2e6, Read: 12, Bare: 900, Ribbon: 1.1},
		{Number: 5, Tables: 12, Unfiltered: 2, FilterBytes: 1e7, RibbonBytes: 1.2e7, Read: 147,
			ReadUnfiltered: 120, Bare: 950, Ribbon: 2},
		{Number: 6, Tables: 123, Unfiltered: 123, RibbonBytes: 1.2e8, Read: 930, Bare: 930, Ribbon: 4},
	}}))

// writePage writes the page of a run that never was, and returns its address.
func writePage(t *testing.T) string {
	o := &enginebench.Outcome{Config: &enginebench.Config{Bits: 10}}
	for _, e := range engine.Engines {
		if e.Name == "pebblev1" {
			continue
		}
		o.Engines = append(o.Engines, e)
		for i, name := range []string{engine.BuiltIn, "ribbon", engine.RibbonL6} {
			if name == engine.RibbonL6 && !e.L6 {
				continue
			}
			r := enginebench.Run{Engine: e.Name, Contestant: name, BetweenLookups: 1000,
				BetweenReads: 900, BetweenChecks: 4000, BetweenAvoided: []int64{3600, 3990, 3990}[i],
				FilterBytes: 1250, Keys: 1000, Filters: 10}
			if name == engine.RibbonL6 {
				r.BetweenReads = 10
			}
			o.Runs = append(o.Runs, r)
		}
	}
	r := &report.Report{Command: "go run ./bench --keys " + evil,
		Environment: report.Environment{CPU: "Zen 99", Cores: 2, Commit: "abc"},
		Notes:       []string{"own: 5 keys of " + evil, strings.Repeat("A long note. ", 20)}}
	table := report.Table{Title: "A table of <b>", Keys: 2, Columns: []string{"engine", "name <b>"}}
	table.Columns = append(table.Columns, "miss", "miss, reads", "hit", "hit, reads", "rewritten",
		"rewritten, reads", "load")
	for range 20 {
		const ratio = "0.12 [0.10 to 0.15]"
		table.Add("goleveldb", evil, ratio, 4.8875, ratio, 4.2107, ratio, 1.2345, ratio)
	}
	r.Tables = []report.Table{table, table}
	path := filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, showing.Write(file, r, append([]showing.Card{counted}, showing.Simulated(o)...)))
	require.NoError(t, file.Close())
	return "file://" + path
}

// The page in a browser: nothing is on its console, nothing is too wide, and all of it can be
// reached and read, whatever keys and paths contain.
func TestReport(t *testing.T) {
	browser := start(t)
	url := writePage(t)
	for _, look := range []view{{Width: 400, Dark: true}, {Width: 400}, {Width: 1400},
		{Width: 1400, Dark: true}, {Width: 700, Print: true}} {
		p := browser.Open(t, url, look)
		require.Empty(t, p.Errors())
		require.Empty(t, p.Overflow())
		var scripts int
		p.Eval("document.querySelectorAll('script').length", &scripts)
		require.Zero(t, scripts)
		require.Contains(t, p.Text(".card"), counted.Sentence, "what is counted comes first")
		require.Contains(t, p.Text(".card pre"), "policy.NewRibbon(10)")
		require.Contains(t, p.Text(".card:nth-child(2)"), "(simulated)")
		requireBars(t, p)

		// Tables are folded, but not on paper.
		var shown bool
		const isShown = `document.querySelector(".data").checkVisibility()`
		p.Eval(isShown, &shown)
		require.Equal(t, look.Print, shown)
		p.Eval(`document.querySelector("details").open = true`, new(bool))
		p.Eval(isShown, &shown)
		require.True(t, shown)
		require.Contains(t, p.Text("details"), evil)
		require.Greater(t, lowestContrast(p), 4.5)
		require.Empty(t, p.Overflow())

		// On a telephone a row is a card, which does not scroll sideways, and says what each cell is.
		var scrolls bool
		p.Eval(`[...document.querySelectorAll(".scroll")].some(e => e.scrollWidth > e.clientWidth)`, &scrolls)
		var label string
		p.Eval(`getComputedStyle(document.querySelector(".data td"), "::before").content`, &label)
		if look.Width == 400 {
			require.False(t, scrolls)
			require.Equal(t, `"miss"`, label)
		}
	}
	p := browser.Open(t, url, view{Width: 768})
	require.Equal(t, []string{"Code", "What was measured, and how"}, p.TabStops())
	p.TabTo("What was measured, and how", kb.Enter)
	require.Len(t, p.TabStops(), 4, "and tables, which scroll")
	// Tables have captions and headers, and a label where they scroll.
	var nameless []string
	p.Eval(`[...document.querySelectorAll("table")].filter(t =>
		!t.caption.textContent || !t.querySelector("tbody th[scope=row]") || t.matches(".data") &&
		(!t.closest("[aria-label]").ariaLabel || !t.querySelector("thead th[scope=col]")))
		.map(e => e.outerHTML.slice(0, 99))`, &nameless)
	require.Empty(t, nameless)
}

// requireBars checks that bars are as long as their values say, and that each has a figure beside it.
func requireBars(t *testing.T, p *page) {
	var bars []struct {
		Width, Longest float64
		Text           string
	}
	p.Eval(`[...document.querySelectorAll(".picture")].slice(0, 1).flatMap(t =>
		[...t.querySelectorAll(".bar")].map(e => ({
			Width: e.querySelector("i").getBoundingClientRect().width,
			Longest: Math.max(...[...t.querySelectorAll("i")].map(i => i.getBoundingClientRect().width)),
			Text: e.innerText })))`, &bars)
	var values []float64
	var texts []string
	for _, row := range counted.Pictures[0].Rows {
		for _, b := range row.Bars {
			values = append(values, b.Value)
			texts = append(texts, b.Text)
		}
	}
	require.Len(t, bars, len(values))
	for i, b := range bars {
		require.InDelta(t, max(1, b.Longest*values[i]/slices.Max(values)), b.Width, 1)
		require.Equal(t, texts[i], b.Text)
		require.Greater(t, b.Longest, 60.0)
	}
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
		const texts = document.querySelectorAll("p, h1, h2, td, th, li, span, summary, pre");
		return Math.min(...[...texts].map(e => { const s = getComputedStyle(e);
				const a = light(s.color), b = light(back(e));
				return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }));
	})()`, &lowest)
	return lowest
}

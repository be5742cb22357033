package webtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/bench/internal/verdict"
)

// evil is what a path or a key may contain.
const evil = `/tmp/<script>alert("x")</script>'&`

// writePage writes the page of a run that never was, and returns its address.
func writePage(t *testing.T) string {
	var runs enginebench.Runs
	for _, e := range []string{"goleveldb", "pebblev2"} {
		for i, name := range []string{engine.None, engine.BuiltIn, "tuned", "ribbon",
			engine.RibbonL6} {
			if name == engine.RibbonL6 && e == "goleveldb" {
				continue
			}
			r := enginebench.Run{Engine: e, Contestant: name, Round: 1, Load: 1e5,
				Miss: enginebench.Pass{PerSecond: 1e4, Reads: 0.9}, BetweenLookups: 1000}
			if name == engine.RibbonL6 {
				r.Miss.Reads = 0.01
			}
			if name != engine.None {
				r.BetweenChecks, r.BetweenAvoided = 4000, []int64{0, 3600, 3950, 3990, 3990}[i]
				r.FilterBytes, r.Keys, r.Filters = 1250, 1000, 10
			}
			runs = append(runs, r)
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
	record := verdict.Record{Runs: runs, Bits: 10}
	require.NoError(t, verdict.WritePage(file, r, record.Verdicts()))
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
		require.Contains(t, p.Text(".card"), "Use ribbon filters instead of goleveldb's own")
		require.Contains(t, p.Text("header"), evil)
		require.Contains(t, p.Text(".card pre"), "policy.WithName(policy.NameGoLevelDB)")
		require.Contains(t, p.Text(".card ul"), "If a read takes 100 us, a miss takes 39 [")
		require.Greater(t, lowestContrast(p), 4.5)
		p.Screenshot("report", look)
	}
	p := browser.Open(t, url, view{Width: 768})
	require.Len(t, p.TabStops(), 4, "code and tables, which may scroll")
	// Tables have captions and headers, and a label where they scroll.
	var nameless []string
	p.Eval(`[...document.querySelectorAll("table")].filter(t =>
		!t.closest("[aria-label]").ariaLabel || !t.querySelector("thead th[scope=col]") ||
		!t.querySelector("tbody th[scope=row]")).map(e => e.outerHTML.slice(0, 99))`, &nameless)
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
		const texts = document.querySelectorAll("p, h1, h2, td, th, li, strong, pre");
		return Math.min(...[...texts].map(e => { const s = getComputedStyle(e);
				const a = light(s.color), b = light(back(e));
				return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }));
	})()`, &lowest)
	return lowest
}

package labreport

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/webtest"
)

// The page in a browser: nothing is on its console, nothing is too wide, and all of it can be
// reached and read, whatever keys and paths contain.
func TestBrowser(t *testing.T) {
	browser := webtest.Start(t)
	dir := t.TempDir()
	old := results(t)
	require.NoError(t, old.Write(dir))
	r := results(t)
	require.NoError(t, r.Compare(filepath.Join(dir, ResultsFile)))
	r.Compared.Better = []Change{{evil, "1", "2"}}
	require.NoError(t, r.Write(dir))
	url := "file://" + filepath.Join(dir, PageFile)
	for _, view := range []webtest.View{{Width: 360, Dark: true}, {Width: 768}, {Width: 1400},
		{Width: 1400, Dark: true}, {Width: 700, Print: true}} {
		p := browser.Open(t, url, view)
		require.Empty(t, p.Errors())
		require.Empty(t, p.Overflow())
		var scripts, charts int
		p.Eval("document.querySelectorAll('script').length", &scripts)
		require.Zero(t, scripts)
		p.Eval("document.querySelectorAll('svg[role=img]').length", &charts)
		require.Equal(t, 8, charts)
		require.Equal(t, r.Verdict(), p.Text("h1"))
		require.Contains(t, p.Text("header"), evil)
		p.Screenshot(fmt.Sprintf("report-%d-%v-%v", view.Width, view.Dark, view.Print))
		p.Eval("document.querySelectorAll('details').forEach(d => d.open = true)", new(any))
		require.Empty(t, p.Overflow())
	}
	p := browser.Open(t, url, webtest.View{Width: 768})
	controls := p.Controls()
	require.Len(t, controls, 4) // a part each
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

// Text is readable on both backgrounds: it has at least the contrast that WCAG 2.2 asks for.
func TestContrast(t *testing.T) {
	browser := webtest.Start(t)
	dir := t.TempDir()
	require.NoError(t, results(t).Write(dir))
	for _, dark := range []bool{false, true} {
		p := browser.Open(t, "file://"+filepath.Join(dir, PageFile),
			webtest.View{Width: 768, Dark: dark})
		var lowest float64
		p.Eval(`(() => {
			const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(x => x / 255).map(x =>
				x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
				return 0.2126 * r + 0.7152 * g + 0.0722 * b };
			const back = e => { const c = getComputedStyle(e).backgroundColor;
				return c === "rgba(0, 0, 0, 0)" ? back(e.parentElement) : c };
			const texts = document.querySelectorAll("p, h1, h2, td, th, li, text, strong, pre");
			return Math.min(...[...texts].map(e => { const s = getComputedStyle(e);
					const a = light(e.tagName === "text" ? s.fill : s.color), b = light(back(e));
					return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }));
		})()`, &lowest)
		require.Greater(t, lowest, 4.5)
	}
}

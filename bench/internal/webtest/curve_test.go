package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// measured is JavaScript: the curve of a choice is complete.
func measured(choice string) string {
	return fmt.Sprintf("curve.name === %q && $('progress').textContent === ''", choice)
}

// The page draws the curve and times filters, by keyboard alone.
func TestCurveAndTiming(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	b := start(t)
	address := servePlay(t)
	for _, view := range []view{{400, true}, {400, false}, {1400, true}, {1400, false}} {
		t.Run(fmt.Sprint(view), func(t *testing.T) {
			look := func(p *page, name string, ticks ...string) {
				requireParts(t, p, ticks)
				require.Empty(t, p.Errors())
				require.Empty(t, p.Overflow())
				require.Empty(t, p.Faint())
				p.Screenshot(fmt.Sprintf("%s-%d-dark=%v", name, view.Width, view.Dark))
			}
			p := b.Open(t, address+"#kind=ribbon&bits=10", view)
			p.Wait(measured("ribbon, 10 bits per key, 1,000 keys in a filter"))
			p.TabTo("the numbers", kb.Enter)
			require.Contains(t, p.Text("#numbers"), "1,500")
			p.TabTo("time these filters", kb.Enter)
			p.Wait("$('times').children.length === 3 && !timing")
			require.Contains(t, p.Text("#timed"), "Timed: ribbon, 10 bits per key, 1,000 keys")
			const number = `[\d.]+`
			require.Regexp(t, strings.ReplaceAll(
				`(?s)^builds\s+#\s+#\s+# \(# to #\)\s+hits.+misses`, "#", number), p.Text("#times"))
			look(p, "ribbon", "100", "500", "1,000", "1,500", "0.1 %", "0.2 %", "0.5 %", "1 %")

			p.TabTo("ribbon", kb.ArrowUp, kb.ArrowUp)
			p.TabTo("Bits per key", kb.ArrowLeft, kb.ArrowLeft)
			p.TabTo("Planned number of keys in a filter", kb.ArrowDown, kb.ArrowDown)
			p.Wait(measured("bloom, 8 bits per key, 100,000 keys in a filter"))
			look(p, "bloom", "10,000", "50,000", "100,000", "150,000", "2 %", "3 %", "5 %")
		})
	}
}

// requireParts requires all that the picture consists of, in its place.
func requireParts(t *testing.T, p *page, ticks []string) {
	t.Helper()
	var parts map[string]int
	p.Eval(`Object.fromEntries(["computed", "textbook", "mean", "band"].map(name =>
		[name, $("curve").querySelector("." + name).getAttribute("d").split(/[ML]/).length - 1]))`,
		&parts)
	require.Equal(t, map[string]int{"computed": 15, "textbook": 15, "mean": 15, "band": 30}, parts)
	var perPlace []int
	p.Eval(`Object.values(Object.groupBy($("curve").querySelectorAll("circle"),
		c => c.getAttribute("cx"))).map(all => all.length)`, &perPlace)
	require.Len(t, perPlace, 15)
	for _, trials := range perPlace {
		require.Equal(t, 10, trials)
	}
	var texts []string
	p.Eval(`[...$("curve").querySelectorAll("text")]
		.map(e => e.textContent.replace("\u00a0", " "))`, &texts)
	require.Equal(t, append([]string{"false positives among absent keys, logarithmic",
		"keys in a filter"}, ticks...), texts)
	var outside []string
	p.Eval(`[...$("curve").querySelectorAll("*")].filter(e => {
		const r = e.getBoundingClientRect(), box = $("curve").getBoundingClientRect();
		return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom;
	}).map(e => e.outerHTML)`, &outside)
	require.Empty(t, outside)
}

// A curve that is replaced before it is complete is no error. One that is out of bounds is, and the
// page says so.
func TestProblemsOfCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	b := start(t)
	address := servePlay(t)
	p := b.Open(t, address+"#bits=20", view{Width: 400})
	p.Wait("curve.points.length > 0")
	p.Do(chromedp.Click(`input[value="ribbon"]`))
	p.Wait(measured("ribbon, 20 bits per key, 1,000 keys in a filter"))
	require.Empty(t, p.Errors())
	requireParts(t, p, []string{"100", "500", "1,000", "1,500", "0.0001 %", "0.0002 %", "0.0005 %",
		"0.001 %", "0.002 %", "0.005 %"}) // the longest
	p = b.Open(t, address+"#planned=7000000", view{Width: 400})
	p.Wait("$('progress').textContent.startsWith('Not possible: 700000 keys in a filter: pass')")
	require.Empty(t, p.Overflow())
}

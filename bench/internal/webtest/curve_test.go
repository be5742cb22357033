package webtest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// measured is JavaScript: the curve is complete.
const measured = "curve.points.length === steps && !$('progress').textContent"

// The page shows the curve and times filters.
func TestCurveAndTiming(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	b := start(t)
	address := servePlay(t)
	for _, view := range []view{{Width: 400, Dark: true}, {Width: 400}, {Width: 1400, Dark: true},
		{Width: 1400}} {
		t.Run(fmt.Sprint(view), func(t *testing.T) {
			p := b.Open(t, address+"#kind=ribbon&bits=10", view)
			p.Wait(measured)
			requireParts(t, p)
			p.Do(chromedp.Click("#time"))
			p.Wait("$('times').children.length === 3 && !timing")
			require.Contains(t, p.Text("#timed"), "Timed: ribbon, 10 bits per key, 1,000 keys")
			p.Screenshot(fmt.Sprintf("ribbon-%d-%v", view.Width, view.Dark))
			require.Empty(t, p.Errors())
			require.Empty(t, p.Overflow())

			p.Do(chromedp.Click(`input[value="bloom"]`))
			p.Wait("curve.name.startsWith('bloom') && " + measured)
			requireParts(t, p)
			p.Screenshot(fmt.Sprintf("bloom-%d-%v", view.Width, view.Dark))
			require.Empty(t, p.Errors())
			require.Empty(t, p.Overflow())
		})
	}
	_ = kb.Tab
}

// requireParts requires all that the picture consists of.
func requireParts(t *testing.T, p *page) {
	t.Helper()
	var parts map[string]int
	p.Eval(`Object.fromEntries([".computed", ".textbook", ".mean", ".band", "circle", ".grid"]
		.map(name => [name, document.querySelectorAll("#curve " + name).length]))`, &parts)
	require.GreaterOrEqual(t, parts[".grid"], 4+2, "ticks")
	delete(parts, ".grid")
	require.Equal(t, map[string]int{".computed": 1, ".textbook": 1, ".mean": 1, ".band": 1,
		"circle": 150}, parts)
}

package play_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// The page answers, draws the curve and times filters, by keyboard alone.
func TestPage(t *testing.T) {
	b := start(t)
	for _, width := range []int64{400, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d-%s", width, scheme), func(t *testing.T) {
				p := b.open(t, "#bits=10", width, scheme)
				p.wait(fmt.Sprintf("answer && matchMedia('(prefers-color-scheme: %s)').matches",
					scheme))
				require.Regexp(t, `Absent\..+not set, so it was never stored`, p.text("verdict"))
				p.tab("a false positive", kb.Enter)
				p.wait("answer.filters[0].contains")
				require.Contains(t, p.text("verdict"), "False positive.")
				require.Contains(t, p.text("whose"), "is set, by ")
				p.sound()

				p.tab("bloom", kb.ArrowUp)
				p.tab("add 1,000", kb.Enter)
				p.wait("answer.n > 1000")
				require.Contains(t, p.text("added"), "1,000 keys of the shape decimal")
				p.tab("an absent key", kb.Enter)
				p.wait("!answer.filters[2].contains")
				require.Contains(t, p.text("verdict"), "add up to something else")
				p.wait(drawn("ribbon, 10 bits per key, 1,000 keys in a filter"))
				requireParts(t, p, "100", "500", "1,000", "1,500", "0.1 %", "0.2 %", "0.5 %", "1 %")
				p.tab("the numbers", kb.Enter)
				require.Regexp(t, `1,500\t0\.\d+.%\t0\.\d+.%\t0\.\d+.% ± 0\.`, p.text("numbers"))
				p.tab("time these filters", kb.Enter)
				p.wait("$('times').children.length === 3 && !timing")
				require.Regexp(t, `^build\s+[\d.]+\s+[\d.]+\s+[\d.]+ \([\d.]+ to [\d.]+\)\s+hit`,
					p.text("times"))
				p.sound()

				p.tab("ribbon", kb.ArrowUp, kb.ArrowUp)
				p.tab("Bits per key", kb.ArrowLeft, kb.ArrowLeft)
				p.tab("Planned number of keys in a filter", kb.ArrowDown, kb.ArrowDown)
				p.wait(drawn("bloom, 8 bits per key, 100,000 keys in a filter"))
				requireParts(t, p, "10,000", "50,000", "100,000", "150,000", "2 %", "3 %", "5 %")
				p.sound()
			})
		}
	}
}

// drawn is JavaScript: the curve of a choice is complete.
func drawn(choice string) string {
	return fmt.Sprintf("curve.name === %q && $('progress').textContent === ''", choice)
}

// requireParts requires all that the curve's picture consists of, in its place: 15 points of each
// line, 10 trials at each, and the marks.
func requireParts(t *testing.T, p *page, marks ...string) {
	t.Helper()
	var got struct {
		Parts          map[string]int
		Trials         []int
		Texts, Outside []string
	}
	p.eval(`({
		parts: Object.fromEntries(["computed", "textbook", "mean", "band"].map(name => [name,
			$("curve").querySelector("." + name).getAttribute("d").split(/[ML]/).length - 1])),
		trials: Object.values(Object.groupBy($("curve").querySelectorAll("circle"),
			c => c.getAttribute("cx"))).map(all => all.length),
		texts: [...$("curve").querySelectorAll("text")].map(e => e.textContent.replace(/\s/g, " ")),
		outside: [...$("curve").querySelectorAll("*")].filter(e => {
			const r = e.getBoundingClientRect(), box = $("curve").getBoundingClientRect();
			return r.left < box.left || r.right > box.right || r.top < box.top ||
				r.bottom > box.bottom;
		}).map(e => e.outerHTML),
	})`, &got)
	require.Equal(t, map[string]int{"computed": 15, "textbook": 15, "mean": 15, "band": 30},
		got.Parts)
	require.Equal(t, slices.Repeat([]int{10}, 15), got.Trials)
	require.Equal(t, append([]string{"false positives among absent keys, logarithmic",
		"keys in a filter"}, marks...), got.Texts)
	require.Empty(t, got.Outside)
}

// Tab reaches all that a user can operate, in order, and each has a name. A group of radio buttons
// counts once.
func TestKeyboard(t *testing.T) {
	p := start(t).open(t, "", 1400, "light")
	p.wait("answer")
	stops := p.tab("")
	var all []string
	p.eval(`[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
		.filter(e => e.checkVisibility() && !e.disabled && !(e.type === "radio" && !e.checked))
		.map(nameOf).concat("")`, &all)
	require.Equal(t, all, stops)
	require.NotContains(t, stops, "nameless")
	p.tab("Look up a key", "\b", "cat")
	p.wait("answer.filters[0].stored")
	require.Contains(t, p.text("verdict"), "May contain.")
	p.tab("dog", kb.Enter)
	p.wait("$('asked').textContent === 'dog' && document.activeElement.textContent === 'dog'")
}

// The address has all settings, and what keys hold is text.
func TestAddress(t *testing.T) {
	b := start(t)
	const key = `<script>throw 1</script><img src=x onerror="throw 2">`
	settings := url.Values{"keys": {key}, "ask": {key}, "kind": {`"]`}, "n": {"20"},
		"shape": {"url"}}
	p := b.open(t, "#"+settings.Encode(), 400, "light")
	p.wait("answer")
	require.Equal(t, key, p.text("asked"))
	require.Contains(t, p.text("whose"), "is set, by "+key)
	require.Contains(t, p.text("stored"), "https://host0.example.com/")
	p.do(chromedp.Click("#try-absent"), chromedp.Click(`input[value="bloom+tuned"]`))
	p.wait("!answer.filters[0].stored")
	p.sound()
	var link string
	p.eval("location.hash", &link)
	again := b.open(t, link, 400, "light")
	again.wait("answer")
	require.Equal(t, p.text("stage"), again.text("stage"))
	b.open(t, "#shape=octal&n=9&planned=7000000", 400, "light").wait(
		`$("problem").textContent.startsWith('Not possible: no shape "octal"') &&
			$("progress").textContent.startsWith("Not possible: 700000 keys")`)
}

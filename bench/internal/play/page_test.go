package play_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// The page adds keys, answers, draws the curves and times filters, by keyboard alone.
func TestPage(t *testing.T) {
	b := start(t)
	for _, width := range []int64{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d-%s", width, scheme), func(t *testing.T) {
				p := b.open(t, "", width, scheme)
				p.wait(fmt.Sprintf("answer && matchMedia('(prefers-color-scheme: %s)').matches",
					scheme))
				require.Equal(t, "The filter is empty: all of its 64 bits are 0.", p.text("verdict"))
				p.sound()
				p.tab("Add Madrid", kb.Enter, kb.Enter)
				p.drawn("answer[0].stored && $('asked').textContent === 'Barcelona'")
				require.Regexp(t, `selects 5 bits\. Adding it set \d of them from 0 to 1; \d \w+ 1 `+
					`already, set by Madrid\.`, p.text("verdict"))
				require.Contains(t, p.text("whose"), "is 1, set by Madrid and Barcelona")
				p.sound()
				p.tab("Add Berlin", kb.Enter, kb.Enter)
				p.drawn("$('asked').textContent === 'Roma'")
				p.tab("an absent key", kb.Enter)
				p.drawn("!chosen().contains")
				require.Regexp(t, `Absent\..+ 0\. .+ so this one was never added`, p.text("verdict"))
				p.tab("a false positive", kb.Enter)
				p.drawn("chosen().contains && !chosen().stored")
				require.Contains(t, p.text("verdict"), "But it was never added: other keys set")
				p.sound()

				p.tab("Bloom", kb.ArrowDown)
				p.tab("an absent key", kb.Enter)
				p.drawn("chosen().table && !chosen().contains")
				require.Contains(t, p.text("verdict"), "do not add up to the fingerprint's bit")
				p.sound()
				p.tab("a false positive", kb.Enter)
				p.drawn("chosen().contains && !chosen().stored")
				require.Contains(t, p.text("verdict"), "agree by chance.")
				require.Contains(t, p.text("verdict"), "= 256.")
				p.sound()
				p.tab("column 0", kb.ArrowRight, kb.ArrowRight)
				p.drawn("document.activeElement.ariaLabel === 'column 2'")
				require.Regexp(t, `Column 2: .+ = [01], an \w+ number .+: equal\.`, p.text("sum"))
				p.tab("Undo", kb.Enter)
				p.drawn("answer[0].stored && $('asked').textContent === 'Berlin'")

				p.tab("Keys in a larger filter", kb.ArrowUp)
				p.wait("curve.name === 'bloom, 100 keys' && $('progress').textContent === ''")
				require.Regexp(t, `100 keys at 1 % .+ ribbon \d\S* bits per key, Bloom \d`, p.text("needed"))
				requireParts(t, p)
				p.tab("the numbers", kb.Enter)
				require.Regexp(t, `10\t\d\.\d+.%, \d\.\d+.%\t0\.\d+.%, 0\.\d+.%\n12`, p.text("numbers"))
				p.tab("time these filters", kb.Enter)
				p.wait("$('times').children.length === 3 && !timing")
				require.Regexp(t, `^build\s+[\d.]+\s+[\d.]+\s+[\d.]+ \([\d.]+ to [\d.]+\)\s+hit`,
					p.text("times"))
				p.sound()
			})
		}
	}
}

// drawn waits until a condition is true, and requires that what is drawn agrees with the answer.
func (p *page) drawn(condition string) {
	p.t.Helper()
	p.wait(condition)
	var wrong []string
	p.eval(`(f => {
		const cells = [...$("bits").querySelectorAll("i")], e = f.equation;
		const bits = cells.map(c => c.textContent).join("");
		const circles = cells.filter(c => c.classList.contains("probe")).map(c => c.textContent);
		const want = e ? e.sums[document.querySelector("[name=column]:checked").ariaLabel.slice(7)]
			: f.probes.length;
		const got = e ? circles.reduce((sum, bit) => sum ^ bit, 0) : circles.length;
		return [bits === f.rows.join("") || "bits " + bits, String(got) === String(want) || "circles",
			e || f.contains === !circles.includes("0") || "answer"].filter(ok => ok !== true && !ok.sums);
	})(chosen())`, &wrong)
	require.Empty(p.t, wrong)
}

// requireParts requires all that the picture of the curves consists of, in its place: 10 points of
// each line, and 10 trials at each.
func requireParts(t *testing.T, p *page) {
	t.Helper()
	var got struct {
		Lines, Trials []int
		Outside       []string
	}
	p.eval(`({
		lines: ["bloom", "ribbon"].map(kind => $("curve").querySelector("path." + kind)
			.getAttribute("d").split(/[ML]/).length - 1),
		trials: ["bloom", "ribbon"].map(kind =>
			$("curve").querySelectorAll("circle." + kind).length),
		outside: [...$("curve").querySelectorAll("*")].filter(e => {
			const r = e.getBoundingClientRect(), box = $("curve").getBoundingClientRect();
			return r.left < box.left || r.right > box.right || r.top < box.top ||
				r.bottom > box.bottom;
		}).map(e => e.outerHTML),
	})`, &got)
	require.Equal(t, []int{10, 10}, got.Lines)
	require.Equal(t, []int{100, 100}, got.Trials)
	require.Empty(t, got.Outside)
}

// Tab reaches all that a user can operate, in order, and each has a name. A group of radio buttons
// counts once.
func TestKeyboard(t *testing.T) {
	p := start(t).open(t, "#kind=ribbon&keys=cat%0Adog&ask=cat", 1280, "light")
	p.wait("answer")
	stops := p.tab("")
	var all []string
	p.eval(`[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
		.filter(e => e.checkVisibility() && !e.disabled && !(e.type === "radio" && !e.checked))
		.map(nameOf).concat("")`, &all)
	require.Equal(t, all, stops)
	require.NotContains(t, stops, "nameless")
	p.tab("dog", kb.Enter)
	p.wait("$('asked').textContent === 'dog' && document.activeElement.textContent === 'dog'")
}

// The address has all settings, and what keys hold is text.
func TestAddress(t *testing.T) {
	b := start(t)
	const key = `<script>throw 1</script><img src=x onerror="throw 2">`
	settings := url.Values{"keys": {key + "\n" + key}, "ask": {key}, "kind": {`"]`}, "bits": {"20"},
		"tuned": {"yes"}}
	p := b.open(t, "#"+settings.Encode(), 400, "light")
	p.wait("answer")
	require.Equal(t, key, p.text("asked"))
	require.Contains(t, p.text("whose"), "is 1, set by "+key)
	p.sound()
	p.do(chromedp.Click("#undo"), chromedp.Click(`input[value="ribbon"]`), chromedp.Click("#absent"))
	p.drawn("!answer[0].contains && $('asked').textContent === state.ask")
	var link string
	p.eval("location.hash", &link)
	again := b.open(t, link, 400, "light")
	again.wait("answer")
	require.Equal(t, p.text("stage"), again.text("stage"))
	b.open(t, "#bits=21&planned=7000000", 400, "light").wait(
		`$("problem").textContent.startsWith("Not possible: pass at most 20 bits per key") &&
			$("progress").textContent.startsWith("Not possible: 7000000 keys")`)
}

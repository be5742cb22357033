package play_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// The page adds keys, answers and draws the curves, by keyboard alone.
func TestPage(t *testing.T) {
	b := start(t)
	for _, width := range []int64{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d-%s", width, scheme), func(t *testing.T) {
				p := b.open(t, "", width, scheme)
				p.wait("answer && matchMedia('(prefers-color-scheme: " + scheme + ")').matches")
				require.Contains(t, p.text("verdict"), "is empty: all of its 64 bits are 0")
				p.sound()
				p.tab("Add Madrid", kb.Enter, kb.Enter)
				p.drawn("answer[0].stored && $('asked').textContent === 'Barcelona'")
				require.Regexp(t, `selects 5 bits\. Adding it set \d of them from 0 to 1; \d `+
					`\w+ 1 already, set by Madrid\.`, p.text("verdict"))
				require.Contains(t, p.text("whose"), "is 1, set by Madrid and Barcelona")
				p.tab("Add Berlin", kb.Enter, kb.Enter)
				p.drawn("$('asked').textContent === 'Roma'")
				p.tab("an absent key", kb.Enter)
				p.drawn("!chosen().contains")
				require.Regexp(t, `Absent\..+ 0\. .+ this one was never added`, p.text("verdict"))
				p.tab("a false positive", kb.Enter)
				p.drawn("chosen().contains && !chosen().stored")
				require.Contains(t, p.text("verdict"), "this key was never added: other keys")
				p.sound()
				p.tab("Bloom", kb.ArrowDown)
				p.tab("an absent key", kb.Enter)
				p.drawn("chosen().table && !chosen().contains")
				require.Contains(t, p.text("verdict"), "do not add up to the fingerprint's bit")
				p.sound()
				p.tab("a false positive", kb.Enter)
				p.drawn("chosen().contains && !chosen().stored")
				require.Regexp(t, `agree by chance\. .+ = 256\.`, p.text("verdict"))
				p.sound()
				p.tab("column 0", kb.ArrowRight, kb.ArrowRight)
				p.drawn("document.activeElement.ariaLabel === 'column 2'")
				require.Regexp(t, `Column 2: .+ = [01], an \w+ number .+: equal\.`, p.text("sum"))
				p.tab("Undo", kb.Enter)
				p.drawn("$('asked').textContent === 'Berlin' && document.querySelector('.changed')")
				p.tab("Keys in a larger filter", kb.ArrowUp)
				p.wait("curve.name === 'bloom, 100 keys' && $('progress').textContent === ''")
				require.Regexp(t, `^100 keys at 1 % .+ Ribbon \d.* Bloom \d`, p.text("needed"))
				p.tab("the numbers", kb.Enter)
				require.Regexp(t, `^2\t\d+.%\t25.%\n(\d+\t\S+.%\t\S+.%\n){8}20\t0.\d+.%\t0.0000`,
					p.text("numbers"))
				p.sound()
			})
		}
	}
}

// drawn waits until a condition is true, and requires that what is drawn agrees with the answer.
func (p *page) drawn(condition string) {
	p.t.Helper()
	p.wait(condition)
	var agree []bool
	p.eval(`(f => {
		const cells = [...$("bits").querySelectorAll("i")], e = f.equation;
		const same = cells.map(c => c.textContent).join("") === f.rows.join("");
		const lit = cells.filter(c => c.matches(".probe")).map(c => c.textContent);
		if (!e) return [same, lit.length === f.probes.length, f.contains !== lit.includes("0")];
		const column = document.querySelector("[name=column]:checked").ariaLabel.slice(7);
		return [same, lit.reduce((sum, bit) => sum ^ bit, 0) === Number(e.sums[column])];
	})(chosen())`, &agree)
	require.NotContains(p.t, agree, false)
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
	p.do(chromedp.Click("#undo"), chromedp.Click("[value=ribbon]"), chromedp.Click("#absent"))
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

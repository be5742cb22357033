package play_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/play"
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

// A browser is a headless Chromium with an empty profile, and the address of a page to open.
type browser struct {
	ctx     context.Context
	address string
}

// start starts a browser and a server, which end with the test. chromedp's limits of time are off.
// Where no Chromium is installed it skips the test, which LEVELBLOOM_REQUIRE_CHROMIUM=1 forbids.
func start(t *testing.T) *browser {
	if testing.Short() {
		t.Skip("long")
	}
	server := httptest.NewServer(play.Handler())
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(math.MaxInt64))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	// Chromium adds values to its protocol that chromedp does not know: that is no error of a page.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}),
		chromedp.WithBrowserOption(chromedp.WithDialTimeout(0)))
	t.Cleanup(cancel)
	err := chromedp.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("LEVELBLOOM_REQUIRE_CHROMIUM") != "1" {
		t.Skip("no Chromium: on Debian, apt-get install chromium, to test pages")
	}
	require.NoError(t, err)
	return &browser{ctx, server.URL + "/"}
}

// A page is an open page. Its methods fail the test if the browser does not answer.
type page struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	faults []string
}

// open opens the page with settings, in a window of some width.
func (b *browser) open(t *testing.T, settings string, width int64, scheme string) *page {
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.faults = append(p.faults, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.faults = append(p.faults, "console."+string(e.Type))
		case *log.EventEntryAdded: // failed requests and violations of the page's policy among them
			p.faults = append(p.faults, e.Entry.Text+" "+e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, b.address) && url != "data:," {
				p.faults = append(p.faults, "request of "+url)
			}
		}
	})
	p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(b.address+settings))
	return p
}

func (p *page) do(actions ...chromedp.Action) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p.ctx, actions...))
}

// eval evaluates JavaScript. out points to what the result's JSON is decoded into.
func (p *page) eval(js string, out any) {
	p.t.Helper()
	p.do(chromedp.Evaluate(js, out))
}

// wait waits until the page shows the answer to its newest request, and a JavaScript expression is
// true.
func (p *page) wait(js string) {
	p.t.Helper()
	js = `document.querySelector("main").ariaBusy === "false" && (` + js + ")"
	p.do(chromedp.Poll(js, nil, chromedp.WithPollingTimeout(0))) // without a limit
}

// text returns what an element shows.
func (p *page) text(id string) (text string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("$(%q).innerText", id), &text)
	return text
}

// faint is JavaScript: the texts whose contrast is below the 4.5 of WCAG 2's level AA, and the
// lines of the picture whose contrast is below its 3. The grid is behind what matters, and the text
// beneath the curves between keys and bits says the same as these.
const faint = `(() => {
	const channels = color => color.match(/[\d.]+/g).map(Number);
	const light = color => channels(color).slice(0, 3).map(c => c / 255)
		.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = e => {
		const color = getComputedStyle(e).backgroundColor;
		return channels(color)[3] === 0 ? ground(e.parentElement) : color;
	};
	const contrast = (e, color) => {
		const [low, high] = [light(color), light(ground(e))].sort((a, b) => a - b);
		return (high + 0.05) / (low + 0.05);
	};
	return [...document.body.querySelectorAll("*")].filter(e => {
		const style = getComputedStyle(e);
		if (!e.checkVisibility() || e.disabled) return false;
		if (e.matches("path")) {
			return !e.matches(".grid, #curves *") && contrast(e, style.stroke) < 3;
		}
		return [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== "") &&
			contrast(e, e.matches("text") ? style.fill : style.color) < 4.5;
	}).map(e => e.outerHTML.slice(0, 100));
})()`

// sound requires that the page has no faults, asked for nothing but its own, does not scroll
// sideways, and can be read.
func (p *page) sound() {
	p.t.Helper()
	var faints []string
	p.eval(faint, &faints)
	require.Empty(p.t, faints)
	var wide int
	p.eval("document.documentElement.scrollWidth - innerWidth", &wide)
	require.LessOrEqual(p.t, wide, 0, "pixels outside of the window")
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.faults)
}

// tab presses Tab from the top of the page until a control of that name has the focus, or without a
// name until none has, and then some keys. It returns the names of all that had the focus.
func (p *page) tab(to string, keys ...string) (names []string) {
	p.t.Helper()
	// The name of an element is that for those who cannot see the page.
	p.do(chromedp.Evaluate(`nameOf = e => e === document.body ? "" :
		e.ariaLabel || e.labels?.[0]?.textContent.trim().split("\n")[0] || e.textContent.trim() ||
		"nameless";
		document.body.tabIndex = -1; document.body.focus();
		document.body.removeAttribute("tabindex"); document.activeElement.blur()`, nil))
	for name := "top"; name != to; names = append(names, name) {
		p.do(chromedp.KeyEvent(kb.Tab))
		p.eval("nameOf(document.activeElement)", &name)
		require.Less(p.t, len(names), 500, "the focus never reaches %q", to)
	}
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
	return names
}

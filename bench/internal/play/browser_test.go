package play_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
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

// A browser is a headless Chromium with an empty profile, and the address of a page to open. Both
// end with the test. chromedp's limits of time are off.
type browser struct {
	ctx     context.Context
	address string
}

// start starts a browser. Where none is installed it skips the test, which
// LEVELBLOOM_REQUIRE_CHROMIUM=1 forbids.
func start(t *testing.T) *browser {
	if testing.Short() {
		t.Skip("long")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serving, end := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- play.Serve(serving, l) }()
	t.Cleanup(func() {
		end()
		require.NoError(t, <-done)
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(math.MaxInt64))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	// Chromium adds values to its protocol that chromedp does not know: that is no error of a page.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}),
		chromedp.WithBrowserOption(chromedp.WithDialTimeout(0)))
	t.Cleanup(cancel)
	err = chromedp.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("LEVELBLOOM_REQUIRE_CHROMIUM") != "1" {
		t.Skip("no Chromium: on Debian, apt-get install chromium, to test pages")
	}
	require.NoError(t, err)
	return &browser{ctx, "http://" + l.Addr().String() + "/"}
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

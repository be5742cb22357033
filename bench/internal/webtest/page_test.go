package webtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A page is an open page. Its methods fail the test if the browser does not answer.
type page struct {
	t      testing.TB
	ctx    context.Context
	mu     sync.Mutex
	errors []string
}

func (p *page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		message := "console." + string(e.Type)
		for _, arg := range e.Args {
			text := arg.Description
			if text == "" {
				text = string(arg.Value)
			}
			message += " " + text
		}
		p.errors = append(p.errors, message)
	case *log.EventEntryAdded: // failed requests and violations of the page's policy among them
		p.errors = append(p.errors, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
	}
}

// Errors returns all that the page wrote to the console, its exceptions, and its requests that
// failed or were refused.
func (p *page) Errors() []string {
	p.Eval("0", new(int)) // what was reported before the answer has arrived
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// Eval evaluates JavaScript, and awaits it if it is a promise. out points to what the result's JSON
// is decoded into.
func (p *page) Eval(js string, out any) {
	p.t.Helper()
	p.Do(chromedp.Evaluate(js, out, awaited))
}

func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// Wait waits until a JavaScript expression is true.
func (p *page) Wait(js string) {
	p.t.Helper()
	p.Do(chromedp.Poll(js, nil, chromedp.WithPollingTimeout(0))) // without a limit
}

// Text returns the text that the first element of a CSS selector shows.
func (p *page) Text(selector string) (text string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("document.querySelector(%q).innerText", selector), &text)
	return text
}

// Screenshot writes a picture of the whole page into the directory LEVELBLOOM_SCREENSHOTS, if it is
// set: for those who want to see what is tested.
func (p *page) Screenshot(name string) {
	p.t.Helper()
	dir := os.Getenv("LEVELBLOOM_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	p.Do(chromedp.FullScreenshot(&png, 100))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666))
}

// Overflow returns the elements that end right of the window, as the page scrolls sideways for
// them. What a scrolling or clipping element holds is not among them.
func (p *page) Overflow() (elements []string) {
	p.t.Helper()
	p.Eval(`(() => {
		const root = document.documentElement, width = root.clientWidth;
		if (root.scrollWidth <= width) return [];
		const clipped = e => e && e !== document.body &&
			(getComputedStyle(e).overflowX !== "visible" || clipped(e.parentElement));
		const out = [...document.body.querySelectorAll("*")].filter(e =>
			e.getBoundingClientRect().right > width + 0.5 && !clipped(e.parentElement));
		return ["page of " + root.scrollWidth + " pixels"].concat(
			out.map(e => e.outerHTML.slice(0, 100)));
	})()`, &elements)
	return elements
}

// Faint returns the texts whose contrast is below the 4.5 of WCAG 2's level AA, and the lines of
// pictures whose contrast is below its 3. Grids and bands are behind what matters, and the list
// beneath the curves between keys and bits says the same as these.
func (p *page) Faint() (elements []string) {
	p.t.Helper()
	p.Eval(`(() => {
		const channels = color => color.match(/[\d.]+/g).map(Number);
		const light = color => channels(color).slice(0, 3).map(c => c / 255)
			.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
			.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = e => {
			const color = e ? getComputedStyle(e).backgroundColor : "rgb(255, 255, 255)";
			return channels(color)[3] === 0 ? ground(e.parentElement) : color;
		};
		const contrast = (e, color) => {
			const [low, high] = [light(color), light(ground(e))].sort((a, b) => a - b);
			return (high + 0.05) / (low + 0.05);
		};
		const isText = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== "");
		return [...document.body.querySelectorAll("*")].filter(e => {
			const style = getComputedStyle(e);
			if (!e.checkVisibility() || e.disabled) return false;
			if (e.matches("path, circle")) {
				return !e.matches(".grid, .band, #curves *") && contrast(e, style.stroke) < 3;
			}
			return isText(e) && contrast(e, e.matches("text") ? style.fill : style.color) < 4.5;
		}).map(e => e.outerHTML.slice(0, 100));
	})()`, &elements)
	return elements
}

// controls is JavaScript: what a user can operate, in order, each as its name. A group of radio
// buttons counts once.
const controls = `[...document.querySelectorAll(
	"a[href], button, input, select, textarea, summary, [tabindex]")].filter(e =>
	e.checkVisibility() && !e.disabled && !(e.type === "radio" && !e.checked)).map(nameOf)`

// nameOf is JavaScript: the name of an element for those who cannot see the page.
const nameOf = `nameOf = e => e === document.body ? "" :
	e.ariaLabel || e.labels?.[0]?.firstChild.textContent.trim() || e.textContent.trim() ||
	"nameless"`

// TabStops presses Tab from the top of the page until the focus leaves it, and returns the names of
// what had it. It fails if that is not all that a user can operate, or if something has no name.
func (p *page) TabStops() (names []string) {
	p.t.Helper()
	p.tab(func(name string) bool {
		names = append(names, name)
		return false
	})
	var all []string
	p.Eval(controls, &all)
	require.Equal(p.t, all, names)
	require.NotContains(p.t, names, "nameless")
	return names
}

// TabTo presses Tab from the top of the page until a control has the focus, and then some keys.
func (p *page) TabTo(control string, keys ...string) {
	p.t.Helper()
	reached := false
	p.tab(func(name string) bool {
		reached = name == control
		return reached
	})
	require.True(p.t, reached, "the focus never reaches %q", control)
	for _, key := range keys {
		p.Do(chromedp.KeyEvent(key))
	}
}

// tab presses Tab from the top of the page until the focus leaves it or is where it should be.
func (p *page) tab(reached func(name string) bool) {
	p.t.Helper()
	p.Do(chromedp.Evaluate(nameOf+`; document.body.tabIndex = -1; document.body.focus();
		document.body.removeAttribute("tabindex"); document.activeElement.blur()`, nil))
	const most = 500
	for range most {
		p.Do(chromedp.KeyEvent(kb.Tab))
		var name string
		if p.Eval("nameOf(document.activeElement)", &name); name == "" || reached(name) {
			return
		}
	}
	require.Fail(p.t, "the focus never leaves the page")
}

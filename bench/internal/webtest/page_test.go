package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/mailru/easyjson"
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
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	poll := chromedp.Poll(js, nil, chromedp.WithPollingTimeout(patience))
	require.NoError(p.t, chromedp.Run(ctx, poll), js)
}

// Text returns the text that the first element of a CSS selector shows.
func (p *page) Text(selector string) (text string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("document.querySelector(%q).innerText", selector), &text)
	return text
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

// controlRoles are the roles of what a user can operate.
var controlRoles = []string{
	"button", "checkbox", "combobox", "DisclosureTriangle", "link", "listbox", "menuitem", "radio",
	"searchbox", "slider", "spinbutton", "switch", "tab", "textbox",
}

type axValue struct {
	Value any `json:"value"`
}

type axNode struct {
	Ignored    bool    `json:"ignored"`
	Role       axValue `json:"role"`
	Name       axValue `json:"name"`
	Properties []struct {
		Name  string  `json:"name"`
		Value axValue `json:"value"`
	} `json:"properties"`
}

func (n *axNode) is(property string) bool {
	for _, p := range n.Properties {
		if p.Name == property {
			return p.Value.Value == true
		}
	}
	return false
}

func (n *axNode) role() string   { return fmt.Sprint(n.Role.Value) }
func (n *axNode) String() string { return n.role() + ": " + fmt.Sprint(n.Name.Value) }

// controls returns what a user can operate, as a screen reader presents it. It reads the protocol's
// JSON itself: chromedp's type refuses properties that are newer than it is.
func (p *page) controls() []axNode {
	p.t.Helper()
	var answer easyjson.RawMessage
	p.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &answer)
	}))
	var tree struct {
		Nodes []axNode `json:"nodes"`
	}
	require.NoError(p.t, json.Unmarshal(answer, &tree))
	return slices.DeleteFunc(tree.Nodes, func(n axNode) bool {
		return n.Ignored || !slices.Contains(controlRoles, n.role())
	})
}

// Controls returns what a user can operate, as "role: name", in no particular order. The names
// are those that a screen reader reads.
func (p *page) Controls() (names []string) {
	p.t.Helper()
	for _, node := range p.controls() {
		if !node.is("disabled") {
			names = append(names, node.String())
		}
	}
	return names
}

// TabStops presses Tab from the top of the page until the focus leaves it, and returns the controls
// that had it. What has the focus and is no control is "other". A group of radio buttons has one
// stop.
func (p *page) TabStops() (names []string) {
	p.t.Helper()
	p.tab(func(name string) bool {
		names = append(names, name)
		return false
	})
	return names
}

// TabTo presses Tab from the top of the page until a control has the focus, and then some keys.
func (p *page) TabTo(control string, keys ...string) {
	p.t.Helper()
	p.tab(func(name string) bool { return name == control })
	var left bool
	p.Eval("document.activeElement === document.body", &left)
	require.False(p.t, left, "the focus never reaches %q", control)
	for _, key := range keys {
		p.Do(chromedp.KeyEvent(key))
	}
}

// tab presses Tab from the top of the page until the focus leaves it or is where it should be.
func (p *page) tab(reached func(name string) bool) {
	p.t.Helper()
	p.Do(chromedp.Evaluate(`document.body.tabIndex = -1; document.body.focus();
		document.body.removeAttribute("tabindex"); document.activeElement.blur()`, nil))
	const most = 500
	for range most {
		p.Do(chromedp.KeyEvent(kb.Tab))
		var left bool
		p.Eval("document.activeElement === document.body", &left)
		if left {
			return
		}
		name := "other"
		for _, node := range p.controls() {
			if node.is("focused") {
				name = node.String()
			}
		}
		if reached(name) {
			return
		}
	}
	require.Fail(p.t, "the focus never leaves the page")
}

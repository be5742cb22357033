package webtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

const sound = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>x</title>
	<style>body { background: white; margin: 0 } @media print { #p { color: red } }
	@media (prefers-color-scheme: dark) { body { background: black } }</style>
	<p id="p">Hello</p><label>Keys <input></label><button>Add</button><button disabled>Off</button>
	<a href="#p">Up</a><div style="overflow-x: auto"><pre style="width: 2000px">long</pre></div>`

// serve serves one page, and nothing else but a file that the page's policy refuses to run.
func serve(t *testing.T, page string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestSoundPage(t *testing.T) {
	t.Setenv(screenshots, filepath.Join(t.TempDir(), "new"))
	p := start(t).Open(t, serve(t, sound), view{Width: 360})
	p.Wait("document.readyState === 'complete'")
	require.Empty(t, p.Errors())
	require.Empty(t, p.Overflow())
	require.Equal(t, "Hello", p.Text("p"))
	controls := []string{"textbox: Keys", "button: Add", "link: Up"}
	require.ElementsMatch(t, controls, p.Controls())
	// Chromium lets the keyboard reach what scrolls.
	require.Equal(t, append(controls, "other"), p.TabStops())
	var clicked bool
	p.Eval("document.querySelector('button').onclick = () => done = true; done = false", &clicked)
	p.TabTo("button: Add", kb.Enter)
	p.Eval("done", &clicked)
	require.True(t, clicked)
	p.Screenshot("page")
	png, err := os.ReadFile(filepath.Join(os.Getenv(screenshots), "page.png"))
	require.NoError(t, err)
	require.Equal(t, "\x89PNG", string(png[:4]))
}

func TestViews(t *testing.T) {
	b := start(t)
	views := []view{{Width: 360}, {Width: 768, Dark: true}, {Width: 1400, Print: true}}
	for _, view := range views {
		p := b.Open(t, serve(t, sound), view)
		var width int
		p.Eval("innerWidth", &width)
		require.Equal(t, view.Width, width)
		var dark, print bool
		p.Eval("getComputedStyle(document.body).backgroundColor === 'rgb(0, 0, 0)'", &dark)
		require.Equal(t, view.Dark, dark)
		p.Eval("getComputedStyle(document.querySelector('p')).color === 'rgb(255, 0, 0)'", &print)
		require.Equal(t, view.Print, print)
	}
}

func TestFaults(t *testing.T) {
	b := start(t)
	for fault, page := range map[string]string{
		"console.log 1 2": `<script>console.log(1, 2)</script>`,
		"console.error":   `<script>console.error("no")</script>`,
		"Error: thrown":   `<script>throw new Error("thrown")</script>`,
		"Error: late":     `<script>Promise.reject(new Error("late"))</script>`,
		"404":             `<img src="missing.png" alt="">`,
		"net::ERR_":       `<script src="http://127.0.0.1:1/x.js"></script>`,
		"Content Security": `<meta http-equiv="Content-Security-Policy"
			content="script-src 'none'"><script>1</script>`,
		"overflow: page of 500": `<div style="width: 500px">wide</div>`,
	} {
		p := b.Open(t, serve(t, sound+page), view{Width: 360})
		faults := p.Errors()
		for _, element := range p.Overflow() {
			faults = append(faults, "overflow: "+element)
		}
		require.NotEmpty(t, faults, fault)
		require.Contains(t, faults[0], fault)
	}
}

func TestNamelessAndUnreachable(t *testing.T) {
	p := start(t).Open(t, serve(t, sound+`<button></button><button tabindex="-1">Lost</button>`),
		view{Width: 360})
	require.Contains(t, p.Controls(), "button: ")
	require.Contains(t, p.Controls(), "button: Lost")
	require.NotContains(t, p.TabStops(), "button: Lost")
}

func TestNoChromium(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("LEVELBLOOM_REQUIRE_CHROMIUM", "")
	skipped := false
	t.Run("skips", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		start(t)
	})
	require.True(t, skipped)
}

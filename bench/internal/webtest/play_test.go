package webtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/play"
)

// servePlay serves the page until the test ends, and returns its address.
func servePlay(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- play.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return "http://" + l.Addr().String() + "/"
}

func TestPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	b := start(t)
	address := servePlay(t)
	open := func(t *testing.T, fragment string, view view) *page {
		p := b.Open(t, address+fragment, view)
		p.Wait("answer")
		return p
	}
	sound := func(t *testing.T, p *page) {
		require.Empty(t, p.Errors())
		require.Empty(t, p.Overflow())
		require.Empty(t, p.Faint())
	}
	wide := view{Width: 1400}
	for _, view := range []view{{400, true}, {400, false}, {1400, true}, wide} {
		t.Run(fmt.Sprint(view), func(t *testing.T) {
			p := open(t, "", view)
			sound(t, p)
			require.Contains(t, p.Text("#verdict"), "Absent.")
			require.Contains(t, p.Text("#verdict"), "not set, so it was never stored")
			p.Do(chromedp.Click("#try-false"))
			p.Wait("answer.filters[0].contains")
			require.Contains(t, p.Text("#verdict"), "False positive.")
			require.Contains(t, p.Text("#whose"), "is set, by ")
			p.Do(chromedp.Click(`input[value="ribbon"]`), chromedp.Click("#try-stored"),
				chromedp.Click(`[data-add="1000"]`))
			p.Wait("answer.n > 1000")
			require.Contains(t, p.Text("#verdict"), "add up to its fingerprint")
			require.Contains(t, p.Text("#added"), "1,000 keys of the shape decimal")
			sound(t, p)
		})
	}
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, open(t, "", wide)) })
	t.Run("hostile keys", func(t *testing.T) {
		const key = `<script>throw 1</script><img src=x onerror="throw 2">`
		settings := url.Values{"keys": {key}, "ask": {key}, "kind": {`"]`}, "n": {"20"},
			"shape": {"url"}}
		p := open(t, "#"+settings.Encode(), view{Width: 360})
		sound(t, p)
		require.Equal(t, key, p.Text("#asked"))
		require.Contains(t, p.Text("#whose"), "is set, by "+key)
		require.Contains(t, p.Text("#stored"), "https://host0.example.com/")
	})
	t.Run("link", func(t *testing.T) {
		p := open(t, "#kind=tuned&bits=12&n=3000&shape=uuid&ask=cat&keys=cat%0Adog", wide)
		require.Contains(t, p.Text("#verdict"), "May contain.")
		p.Do(chromedp.Click("#try-absent"))
		p.Wait("!answer.filters[0].stored")
		sound(t, p)
		var link string
		p.Eval("location.hash", &link)
		again := open(t, link, wide)
		for _, part := range []string{"#verdict", "#asked", "#whose", "#kinds", "#bits-shown"} {
			require.Equal(t, p.Text(part), again.Text(part))
		}
	})
	t.Run("as many keys as fit", func(t *testing.T) {
		p := open(t, "#n=9500", wide)
		p.Do(chromedp.Click(`[data-add="1000"]`))
		p.Wait("answer.n > 9512")
		require.Empty(t, p.Text("#problem"))
		require.Contains(t, p.Text("#added"), "9,988 keys of the shape decimal")
		require.Contains(t, p.Text("#added"), "10,000 stored in all: no more fit.")
		var disabled bool
		p.Eval(`document.querySelector('[data-add="10"]').disabled`, &disabled)
		require.True(t, disabled)
		p.Do(chromedp.Click("#none"))
		p.Wait("answer.n === 12 && !document.querySelector('[data-add=\"10\"]').disabled")
		sound(t, p)
	})
	t.Run("problems", func(t *testing.T) {
		p := b.Open(t, address+"#shape=octal&n=9", view{Width: 360})
		p.Wait("document.getElementById('problem').textContent")
		require.Contains(t, p.Text("#problem"), `no shape "octal"`)
		require.Empty(t, p.Overflow())
	})
}

func testKeyboard(t *testing.T, p *page) {
	stops := p.TabStops()
	for _, want := range []string{"Look up a key", "a false positive", "Stored keys, one per line",
		"Add keys of a shape", "Bits per key", "bloom", "ant", "Planned number of keys in a filter",
		"the numbers", "time these filters"} {
		require.Contains(t, stops, want)
	}
	p.TabTo("Look up a key", "\b", "cat")
	p.Wait("answer.filters[0].stored")
	require.Contains(t, p.Text("#verdict"), "May contain.")
	p.TabTo("dog", kb.Enter)
	p.Wait("$('asked').textContent === 'dog'")
	p.Wait("document.activeElement.textContent === 'dog'")
	p.TabTo("Bits per key", kb.ArrowRight, kb.ArrowRight)
	p.Wait("answer.filters[0].k === 6")
	require.Equal(t, "10", p.Text("#bits-shown"))
	p.TabTo("bloom", kb.ArrowDown)
	p.Wait("state.kind === 'tuned'")
	require.Empty(t, p.Errors())
}

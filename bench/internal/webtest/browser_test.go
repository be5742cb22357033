// Package webtest tests the page of bench play in a headless Chromium.
package webtest

import (
	"context"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A browser is a running Chromium with an empty profile. It ends with its test. It may take as long
// as the test for anything: chromedp's own limits are off.
type browser struct{ ctx context.Context }

// start starts a browser. Where none is installed it skips the test, which
// LEVELBLOOM_REQUIRE_CHROMIUM=1 forbids.
func start(t testing.TB) *browser {
	program := find()
	if program == "" {
		const message = "no Chromium: on Debian, apt-get install chromium, to test pages"
		if os.Getenv("LEVELBLOOM_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(math.MaxInt64))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	// Chromium adds values to its protocol that chromedp does not know: that is no error of a page.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}),
		chromedp.WithBrowserOption(chromedp.WithDialTimeout(0)))
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Run(ctx))
	return &browser{ctx}
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A view is how a page is looked at.
type view struct {
	Width int // in pixels
	Dark  bool
}

// Open opens a page and waits until it is loaded.
func (b *browser) Open(t testing.TB, url string, look view) *page {
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.listen)
	const height = 900
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	p.Do(
		emulation.SetDeviceMetricsOverride(int64(look.Width), height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		chromedp.Navigate(url))
	var got view
	p.Eval(`({ Width: innerWidth,
		Dark: matchMedia("(prefers-color-scheme: dark)").matches })`, &got)
	require.Equal(t, look, got)
	return p
}

// Do runs actions of chromedp.
func (p *page) Do(actions ...chromedp.Action) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p.ctx, actions...))
}

package webtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sound = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>x</title>
	<button>Add</button><div style="overflow-x: auto"><pre style="width: 2000px">long</pre></div>`

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

// Faults of pages are found, and none where there is none.
func TestFaults(t *testing.T) {
	b := start(t)
	for fault, page := range map[string]string{
		"":                "",
		"console.log 1 2": `<script>console.log(1, 2)</script>`,
		"console.error":   `<script>console.error("no")</script>`,
		"Error: thrown":   `<script>throw new Error("thrown")</script>`,
		"Error: late":     `<script>Promise.reject(new Error("late"))</script>`,
		"404":             `<img src="missing.png" alt="">`,
		"net::ERR_":       `<script src="http://127.0.0.1:1/x.js"></script>`,
		"Content Security": `<meta http-equiv="Content-Security-Policy"
			content="script-src 'none'"><script>1</script>`,
		"page of 508": `<div style="width: 500px">wide</div>`,
	} {
		p := b.Open(t, serve(t, sound+page), view{Width: 360})
		faults := append(p.Errors(), p.Overflow()...)
		require.Equal(t, fault == "", len(faults) == 0, faults)
		require.Contains(t, strings.Join(faults, "\n"), fault)
	}
}

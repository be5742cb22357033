package webtest

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sound = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>x</title>
	<button>Add</button><div style="overflow-x: auto"><pre style="width: 2000px">long</pre></div>`

// Faults of pages are found, and none where there is none.
func TestFaults(t *testing.T) {
	b := start(t)
	for fault, page := range map[string]string{
		"":                "",
		"console.log 1 2": `<script>console.log(1, 2)</script>`,
		"console.error":   `<script>console.error("no")</script>`,
		"Error: thrown":   `<script>throw new Error("thrown")</script>`,
		"Error: late":     `<script>Promise.reject(new Error("late"))</script>`,
		"net::ERR_":       `<script src="http://127.0.0.1:1/x.js"></script>`,
		"Content Security": `<meta http-equiv="Content-Security-Policy"
			content="script-src 'none'"><script>1</script>`,
		"faint":       `<p style="background: #fff; color: #888">faint</p>`,
		"<path ":      `<svg><path d="M0 0H9" style="stroke: #ccc"/></svg>`,
		"page of 508": `<div style="width: 500px">wide</div>`,
	} {
		p := b.Open(t, "data:text/html,"+url.PathEscape(sound+page), view{Width: 360})
		faults := slices.Concat(p.Errors(), p.Overflow(), p.Faint())
		require.Equal(t, fault == "", len(faults) == 0, faults)
		require.Contains(t, strings.Join(faults, "\n"), fault)
	}
}

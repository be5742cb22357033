package play

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// send sends a request to a host and port on this machine, and returns the response.
func send(method, url, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+url, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

const asJSON, here = "application/json", "127.0.0.1:8080"

// The page is for this machine alone, and takes no forms, which any page may send.
func TestRequests(t *testing.T) {
	page := send("GET", here+"/", "", "")
	require.Equal(t, http.StatusOK, page.Code)
	require.Equal(t, contentSecurityPolicy, page.Header().Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", page.Header().Get("X-Content-Type-Options"))
	require.NotContains(t, contentSecurityPolicy, "unsafe")
	require.Equal(t, http.StatusOK, send("GET", "localhost:8080/assets/play.js", "", "").Code)
	require.Equal(t, http.StatusNotFound, send("GET", here+"/server.go", "", "").Code)
	require.Equal(t, http.StatusForbidden, send("POST", "example.com/filters", asJSON, "{}").Code)
	form := send("POST", here+"/filters", "text/plain", "{}")
	require.Equal(t, http.StatusUnsupportedMediaType, form.Code)
}

// Questions are refused that have no answer, or one that takes long.
func TestRefusedQuestions(t *testing.T) {
	const limits = "pass at most 20 bits per key, 64 keys, and 1000 bytes in a key"
	long := `{"bits": 20, "ask": "` + strings.Repeat("x", maxKeyBytes)
	longest := strings.Repeat(" ", maxBody-len(long)-2) + long + `"}`
	require.Equal(t, http.StatusOK, send("POST", here+"/filters", asJSON, longest).Code)
	for question, message := range map[string]string{
		"/filters  " + longest:     "too large",
		"/filters " + long + `x"}`: limits,
		`/filters {"bits": 21}`:    limits,
		`/filters {"bits": 10, "keys": [` + strings.Repeat(`"a",`, maxKeys) + `"a"]}`: limits,
		`/filters {"bits": 1}`:                             "1 bits per key",
		`/filters {"keys": `:                               "EOF",
		`/rate {"kind": "bloom", "bits": 10, "n": 0}`:      "0 keys in a filter: pass 1 to",
		`/rate {"kind": "bloom", "bits": 10, "n": 100001}`: "100001 keys in a filter: pass 1 to",
		`/rate {"kind": "ribbon", "bits": 1, "n": 10}`:     "1 bits per key",
		`/bits {"kind": "bloom", "bits": 20.5, "n": 10}`:   "20.5 bits per key: pass at most 20",
	} {
		path, body, _ := strings.Cut(question, " ")
		w := send("POST", here+path, asJSON, body)
		require.Equal(t, http.StatusBadRequest, w.Code, question)
		require.Contains(t, w.Body.String(), message)
	}
	left, cancel := context.WithCancel(context.Background()) // as of a page
	cancel()
	_, err := bitsFor(left, &choice{"bloom", 10, 10})
	require.ErrorIs(t, err, context.Canceled)
}

// The rates and the bits per key that the page shows are those of package policy.
func TestRates(t *testing.T) {
	tuned := send("POST", here+"/rate", asJSON, `{"kind": "bloom+tuned", "bits": 8, "n": 1000}`)
	rate := testkit.Must(policy.NewBloom(8, policy.WithTuning())).FPP(1000)
	require.Equal(t, fmt.Sprintln(rate), tuned.Body.String())
	enough := send("POST", here+"/bits", asJSON, `{"kind": "ribbon", "bits": 10, "n": 100000}`)
	bits := testkit.Must(policy.BitsFor("ribbon", maxN, 0.01))
	require.Equal(t, fmt.Sprintln(bits), enough.Body.String())
}

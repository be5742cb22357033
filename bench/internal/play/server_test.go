package play

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func do(t *testing.T, request *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	newHandler(8080).ServeHTTP(w, request)
	return w
}

func post(body string) *http.Request { return postTo("/filters", body) }

func postTo(path, body string) *http.Request {
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return r
}

func TestPageAndAssets(t *testing.T) {
	for path, want := range map[string]string{
		"/": "text/html", "/assets/play.css": "text/css", "/assets/play.js": "text/javascript",
		"/assets/draw.js": "text/javascript", "/assets/curve.js": "text/javascript",
		"/assets/timing.js": "text/javascript",
	} {
		for _, host := range []string{"127.0.0.1:8080", "localhost:8080"} {
			w := do(t, httptest.NewRequest("GET", "http://"+host+path, nil))
			require.Equal(t, http.StatusOK, w.Code)
			require.Contains(t, w.Header().Get("Content-Type"), want)
			require.Equal(t, policyOfPage, w.Header().Get("Content-Security-Policy"))
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		}
	}
	require.NotContains(t, policyOfPage, "unsafe")
}

func TestPointAndTiming(t *testing.T) {
	for path, want := range map[string]string{
		"/point": `{"computed":0.`, "/timing": `[{"name":"builds","ns":`,
	} {
		w := do(t, postTo(path, `{"kind": "ribbon", "bits": 7, "n": 1000}`))
		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, w.Body.String(), want)
	}
}

func TestRefusedRequests(t *testing.T) {
	otherHost, otherPort, noPort := post("{}"), post("{}"), post("{}")
	otherHost.Host, otherPort.Host, noPort.Host = "example.com:8080", "127.0.0.1:81", "example.com"
	form := post("{}") // which any page may send
	form.Header.Set("Content-Type", "text/plain")
	for name, c := range map[string]struct {
		request *http.Request
		status  int
	}{
		"host":   {otherHost, http.StatusForbidden},
		"port":   {otherPort, http.StatusForbidden},
		"none":   {noPort, http.StatusForbidden},
		"form":   {form, http.StatusUnsupportedMediaType},
		"method": {httptest.NewRequest("GET", "http://127.0.0.1:8080/filters", nil), 405},
		"path":   {httptest.NewRequest("GET", "http://127.0.0.1:8080/server.go", nil), 404},
		"large":  {post(`{"ask": "` + strings.Repeat("x", maxBody) + `"}`), http.StatusBadRequest},
		"broken": {post(`{"keys": `), http.StatusBadRequest},
		"bits":   {post(`{"bits": 0}`), http.StatusBadRequest},
		"point":  {postTo("/point", `{"kind": "bloom", "bits": 8, "n": 0}`), 400},
		"number": {postTo("/point", `{"kind": "bloom", "bits": 8, "n": 1.5}`), 400},
		"timing": {postTo("/timing", `{"kind": "bloom", "bits": 8, "n": -1}`), 400},
	} {
		w := do(t, c.request)
		require.Equal(t, c.status, w.Code, name)
		require.Less(t, w.Body.Len(), 200, name)
	}
}

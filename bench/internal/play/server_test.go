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

func post(body string) *http.Request {
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080/filters", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestHeaders(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:8080/", "http://localhost:8080/assets/play.js"} {
		w := do(t, httptest.NewRequest("GET", url, nil))
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, policyOfPage, w.Header().Get("Content-Security-Policy"))
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	}
	require.NotContains(t, policyOfPage, "unsafe")
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
	} {
		w := do(t, c.request)
		require.Equal(t, c.status, w.Code, name)
		require.Less(t, w.Body.Len(), 200, name)
	}
}

package play

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func request(method, url, body string) *http.Request {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// The page is for this machine alone, and questions are for this page.
func TestRequests(t *testing.T) {
	const page, filters = "http://127.0.0.1:8080/", "http://127.0.0.1:8080/filters"
	form := request("POST", filters, "{}") // which any page may send
	form.Header.Set("Content-Type", "text/plain")
	const question = `{"bits": 10}`
	longest := strings.Repeat(" ", maxBody-len(question)) + question
	for _, c := range []struct {
		request *http.Request
		status  int
	}{
		{request("GET", page, ""), http.StatusOK},
		{request("GET", "http://localhost:8080/assets/play.js", ""), http.StatusOK},
		{request("POST", "http://example.com:8080/filters", "{}"), http.StatusForbidden},
		{request("POST", "http://127.0.0.1:81/filters", "{}"), http.StatusForbidden},
		{form, http.StatusUnsupportedMediaType},
		{request("GET", filters, ""), http.StatusMethodNotAllowed},
		{request("GET", page+"server.go", ""), http.StatusNotFound},
		{request("POST", filters, longest), http.StatusOK},
		{request("POST", filters, " "+longest), http.StatusBadRequest},
		{request("POST", filters, `{"keys": `), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		newHandler(8080).ServeHTTP(w, c.request)
		require.Equal(t, c.status, w.Code, "%v", c.request.URL)
		if c.status == http.StatusOK {
			require.Equal(t, contentSecurityPolicy, w.Header().Get("Content-Security-Policy"))
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		} else {
			require.Less(t, w.Body.Len(), 200)
		}
	}
	require.NotContains(t, contentSecurityPolicy, "unsafe")
}

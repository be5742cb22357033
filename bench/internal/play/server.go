// Package play serves a page on this machine that shows filters at work: what adding a key does to
// their bits, how a false positive comes about, and how many there are. Filters and their answers
// come from package policy.
package play

import (
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
)

//go:embed assets
var assets embed.FS

var page = template.Must(template.ParseFS(assets, "assets/play.html"))

// contentSecurityPolicy lets the page load its own files and nothing else. Scripts and styles in
// the page do not run.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler returns what serves the page under http://127.0.0.1, with any port. Other hosts are
// refused: so no page of another name that leads to this machine can use it.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_ = page.Execute(w, map[string]int{"MaxKeys": maxKeys, "MaxBits": maxBits})
	})
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	mux.HandleFunc("POST /filters", answering(reply))
	mux.HandleFunc("POST /bits", answering(bitsFor))
	mux.HandleFunc("POST /rate", answering(rate))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := strings.Cut(r.Host, ":"); host != "127.0.0.1" && host != "localhost" {
			http.Error(w, "this page is for this machine alone", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// answering serves replies to questions. It takes JSON alone, which browsers do not let other pages
// send here. The context of a reply ends when the page is left.
func answering[Q, A any](reply func(context.Context, *Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
			return
		}
		var q Q
		var a A
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q)
		if err == nil {
			a, err = reply(r.Context(), &q)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // the page may be gone
	}
}

// Package play serves a page on this machine that shows filters at work: their bits, the probes of
// a key, and whose bits make a false positive. All that it shows comes from package policy.
package play

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net"
	"net/http"
	"time"
)

var (
	//go:embed assets
	assets embed.FS

	page = template.Must(template.ParseFS(assets, "assets/play.html"))
)

// policyOfPage lets the page load its own files and nothing else. Scripts and styles inside of the
// page do not run.
const policyOfPage = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Serve serves the page at a listener until ctx ends.
func Serve(ctx context.Context, l net.Listener) error {
	handler := newHandler(l.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newHandler returns what serves the page under http://127.0.0.1 and a port. Other hosts are
// refused: so no page of another name that leads to this machine can use it.
func newHandler(port int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_ = page.Execute(w, map[string]any{"Kinds": kinds, "Shapes": shapes(),
			"MaxKeys": maxKeys, "MaxBits": maxBits})
	})
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	mux.HandleFunc("POST /filters", filters)
	hosts := map[string]bool{
		fmt.Sprintf("127.0.0.1:%d", port): true, fmt.Sprintf("localhost:%d", port): true,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hosts[r.Host] {
			http.Error(w, "this page is for this machine alone", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policyOfPage)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// filters answers a question. It takes JSON alone, which browsers do not let other pages send here.
func filters(w http.ResponseWriter, r *http.Request) {
	var q question
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
		return
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q)
	if err == nil {
		var a *answer
		if a, err = reply(&q); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(a) // the page may be gone
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadRequest)
}

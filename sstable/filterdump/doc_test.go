package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The package comment names all fields of the JSON that are not the analysis's, and all statuses.
func TestDoc(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	doc := string(text)[strings.Index(string(text), "# JSON"):]
	for _, of := range []any{report{}, Summary{}, Result{}, Filter{}} {
		for i := range reflect.TypeOf(of).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ",")
			if name != "" {
				require.Regexp(t, `\b`+regexp.QuoteMeta(name)+`\b`, doc)
			}
		}
	}
	for _, s := range []Status{Sound, NoFilter, Unverified, FalseNegative, Corrupt, Unsupported, Unreadable, Vanished, Unfinished} {
		require.Contains(t, doc, string(s))
	}
}

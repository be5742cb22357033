package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is generated is up to date. RESULTS.md is short, and shows all files.
func TestGenerated(t *testing.T) {
	generated := generate()
	for path, want := range generated {
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, want == string(got), "%s differs: run go generate ./bench", path)
	}
	results := generated["../RESULTS.md"]
	require.LessOrEqual(t, strings.Count(results, "\n"), 300)
	require.Contains(t, results, "](results/reads.svg)")
	files, err := filepath.Glob("*/*.json")
	require.NoError(t, err)
	var shown []string
	for _, f := range block.FindAllStringSubmatch(results, -1) {
		require.NotContains(t, f[4], "<!--", "no end")
		shown = append(shown, f[3])
	}
	require.ElementsMatch(t, files, shown)
}

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/verdict"
)

// A quick report of a user's own keys has all files, and the page can be made again from one of
// them.
func TestReport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 15 s")
	}
	path, dir := listFile(t, 3000), t.TempDir()
	r := bench(t, "report", "--quick", "--keys="+path, "--out="+dir)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, filepath.Join(dir, "report.html"))
	require.Contains(t, r.stderr, "[  1/100] engines: ")
	require.Contains(t, r.stderr, " left)\n")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"report.html", "results.json"}, names)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "your own keys (3000 from "+path+")")
	require.Contains(t, string(page), "-quick is too small for conclusions")
	require.Equal(t, 2, strings.Count(string(page), "<svg "))
}

// The rates are those of the engine's filters: goleveldb's are of a window, Pebble's of a table.
func TestReportParts(t *testing.T) {
	j, err := parse(context.Background(), []string{"report", "--out=x"}, io.Discard)
	require.NoError(t, err)
	f := j.parsed.Selected().Target.Addr().Interface().(*reportCommand)
	for engine, ns := range map[string]string{"goleveldb": "36", "pebblev2": "100000",
		"": "36,100000"} {
		all, _, err := f.parts(j, &verdict.Disk{Engine: engine})
		require.NoError(t, err)
		require.Equal(t, []string{"rates", "-n", ns}, all[1].args[:3])
	}
}

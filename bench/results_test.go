package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of RESULTS.md are those of the files; `go generate ./bench` writes them.
func TestResultsAreGenerated(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	require.NoError(t, err)
	generated, err := withTables(string(text), "results")
	require.NoError(t, err)
	require.Equal(t, generated, string(text), "run: go generate ./bench")

	written := strings.Count(tables.ReplaceAllString(string(text), ""), "\n") // by hand
	require.LessOrEqual(t, written, 200)
	require.Greater(t, written, 50)
}

// Every file in RESULTS.md has a command that bench takes.
func TestResultsCommands(t *testing.T) {
	files, err := filepath.Glob("results/*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 5)
	for _, file := range files {
		r, err := readReport(file)
		require.NoError(t, err)
		args, ok := strings.CutPrefix(r.Command, "go run ./bench")
		require.True(t, ok, r.Command)
		_, err = parse(context.Background(), strings.Fields(args), io.Discard)
		require.NoError(t, err, r.Command)
	}
}

// All kinds of filters are timed, and what --json writes is what a text takes its tables from.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	file, results := filepath.Join(dir, "R.md"), filepath.Join(dir, "results")
	require.NoError(t, os.Mkdir(results, 0o700))
	turns := filepath.Join(dir, "turns")
	r := bench(t, "filters", "--quick", "--n=36", "--filters=goleveldb,pebblev2,bloom,ribbon:7",
		"--json="+filepath.Join(results, "speed.json"), "--bench="+turns)
	require.Zero(t, r.status, r.stderr)
	require.Regexp(t, "(?s)│ hit .*│ miss .*│ build ", r.stdout)
	lines, err := os.ReadFile(turns)
	require.NoError(t, err)
	require.Contains(t, string(lines), "\nBenchmarkHit/filter=ribbon:7/n=36 ")
	const before, after = "Text.\n\n<!-- tables of speed.json -->\n",
		"<!-- end of tables -->\nMore.\n"
	write := func(text string) result {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return bench(t, "results", "--file="+file)
	}
	r = write(before + "old tables\n" + after)
	require.Zero(t, r.status, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), before))
	require.True(t, strings.HasSuffix(string(text), after))
	require.NotContains(t, string(text), "old tables")
	require.Contains(t, string(text), "\n    go run ./bench filters --quick --n=36 --filters=")
	require.Contains(t, string(text), "| goleveldb-again | pebblev2 | bloom | ribbon:7 |")
	require.Contains(t, string(text), ", go1.")

	for message, text := range map[string]string{
		"the tables of speed.json do not end": before + before + after,
		"no such file":                        "<!-- tables of other.json -->\n" + after,
	} {
		r = write(text)
		require.Equal(t, exitCannotRun, r.status)
		require.Contains(t, r.stderr, message)
	}
}

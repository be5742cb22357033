package main

import (
	"context"
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

	written := 0 // by hand
	for i, part := range strings.Split(string(text), tablesBegin) {
		if _, after, ok := strings.Cut(part, tablesEnd); ok || i == 0 {
			written += strings.Count(after+part[:len(part)*(1-min(i, 1))], "\n")
		}
	}
	require.LessOrEqual(t, written, 200)
	require.Greater(t, written, 50)
}

// Every file in RESULTS.md has a command that measures it, which bench takes.
func TestResultsCommands(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	require.NoError(t, err)
	for _, m := range measurements {
		_, err := parse(context.Background(), strings.Fields(m.command), &strings.Builder{})
		require.NoError(t, err, m.command)
		require.Contains(t, string(text), tablesBegin+"zen3/"+m.name+".json -->")
	}
}

// A text needs no file of its tables: it says how to measure them.
func TestMissingResults(t *testing.T) {
	text, err := withTables("A\n"+tablesBegin+"zen9/l6.json -->\nold\n"+tablesEnd+"\nB\n", t.TempDir())
	require.NoError(t, err)
	require.Contains(t, text, "`go run ./bench results --only l6 --measure bench/results/zen9`")
	require.NotContains(t, text, "old")
}

// A measurement is stored with its command, and a text takes its tables from there.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	file, results := filepath.Join(dir, "R.md"), filepath.Join(dir, "results")
	const before = "Text.\n\n" + tablesBegin + "here/speed.json -->\n"
	const after = tablesEnd + "\nMore.\n"
	require.NoError(t, os.WriteFile(file, []byte(before+"old tables\n"+after), 0o600))
	run := func(args ...string) result {
		return bench(t, append([]string{"results", "--file", file}, args...)...)
	}
	measure := []string{"--measure", filepath.Join(results, "here"), "--only=speed", "--quick"}
	r := run(measure...)
	require.Zero(t, r.status)
	require.Regexp(t, `(?m)^speed: \d+s$`, r.stdout)
	require.Zero(t, run().status)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), before))
	require.True(t, strings.HasSuffix(string(text), after))
	require.NotContains(t, string(text), "old tables")
	require.Contains(t, string(text), "\n    go run ./bench filters --quick\n")
	require.Contains(t, string(text), "| goleveldb-again |")
	require.Contains(t, string(text), ", go1.")

	require.NoError(t, os.WriteFile(file, []byte(before), 0o600))
	r = run()
	require.Equal(t, exitCannotRun, r.status)
	require.Contains(t, r.stderr, `has no "`+tablesEnd)
}

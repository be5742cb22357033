package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

//go:generate go test -run TestResultsAreGenerated -update

var update = flag.Bool("update", false, "write the tables of RESULTS.md")

// The tables of RESULTS.md are those of the files in results, which bench writes with --json. Lines
// before the tables name the files.
func TestResultsAreGenerated(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	require.NoError(t, err)
	generated, err := withTables(string(text), "results")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("RESULTS.md", []byte(generated), 0o644))
		return
	}
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
	r := bench(t, "filters", "--quick", "--n=36", "--filters=goleveldb,pebblev2,bloom,ribbon:7",
		"--json="+filepath.Join(dir, "speed.json"))
	require.Zero(t, r.status, r.stderr)
	require.Regexp(t, "(?s)│ hit .*│ miss .*│ build ", r.stdout)
	const before, after = "Text.\n\n<!-- tables of speed.json -->\n",
		"<!-- end of tables -->\nMore.\n"
	text, err := withTables(before+"old tables\n"+after, dir)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, before))
	require.True(t, strings.HasSuffix(text, after))
	require.NotContains(t, text, "old tables")
	require.Contains(t, text, "\n    go run ./bench filters --quick --n=36 --filters=")
	require.Contains(t, text, "| goleveldb-again | pebblev2 | bloom | ribbon:7 |")
	require.Contains(t, text, ", go1.")

	for message, text := range map[string]string{
		"the tables of speed.json do not end": before + before + after,
		"no such file":                        "<!-- tables of other.json -->\n" + after,
	} {
		_, err := withTables(text, dir)
		require.ErrorContains(t, err, message)
	}
}

// tables matches the tables of a file in a text. The lines around them stay.
var tables = regexp.MustCompile(`(?s)(<!-- tables of (\S+) -->\n)(.*?)(<!-- end of tables -->)`)

// withTables returns the text with the tables of the files that it names, in dir.
func withTables(text, dir string) (string, error) {
	var failed error
	text = tables.ReplaceAllStringFunc(text, func(block string) string {
		parts := tables.FindStringSubmatch(block)
		if strings.Contains(parts[3], "<!--") {
			failed = errors.Join(failed, fmt.Errorf("the tables of %s do not end", parts[2]))
		}
		r, err := readReport(filepath.Join(dir, parts[2]))
		failed = errors.Join(failed, err)
		return parts[1] + markdown(r) + parts[4]
	})
	return text, failed
}

func readReport(path string) (r report.Report, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// markdown returns a report's command, where and when it ran, and its tables.
func markdown(r report.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n\n%s, %s, %s.\n", r.Command, r.Environment.CPU,
		r.Environment.GoVersion, r.Environment.Date)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n%s:\n\n%s\n", t.Title, t.Markdown())
	}
	return b.String() + "\n"
}

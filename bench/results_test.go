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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

//go:generate go test -run TestResultsAreGenerated -update

var update = flag.Bool("update", false, "write the tables of RESULTS.md and its pictures")

// The tables and pictures of RESULTS.md are those of the files in results, which bench writes with
// --json. Lines before them name the files.
func TestResultsAreGenerated(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 300)
	generated := map[string]string{} // by path
	shown := map[string]bool{}
	generated["RESULTS.md"] = block.ReplaceAllStringFunc(string(text), func(old string) string {
		parts := block.FindStringSubmatch(old)
		require.NotContains(t, parts[4], "<!--", "no end")
		files := recorded(t, "results", parts[3])
		for _, m := range files {
			shown[m.path] = true
		}
		return parts[1] + markdown(files, contents[parts[2]](files)) + parts[5]
	})
	for _, p := range pictures {
		generated[p.path] = p.draw(recorded(t, "results", p.files)).svg()
		require.Contains(t, generated["RESULTS.md"], "]("+p.path+")")
	}
	for path, want := range generated {
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, want == string(got), "%s differs: run go generate ./bench", path)
	}
	for _, m := range recorded(t, "results", "*/*.json") {
		require.True(t, shown[m.path], m.path)
	}
}

// Of what each command writes with --json, the tables are those that it printed.
func TestResults(t *testing.T) {
	for _, args := range []string{
		"filters --n=36 --filters=goleveldb,pebblev2,bloom,ribbon:7",
		"rates --queries=20000 --n=20,1k --shape=random,decimal --density=alternating,beyond",
		"engines --num=3000 --disk=0s --engines=goleveldb --filters=bloom",
	} {
		flag, read := file(t)
		r := bench(t, append(strings.Fields(args), flag)...)
		require.Zero(t, r.status, r.stderr)
		m := read()
		require.Contains(t, r.stdout, m.Environment.Commit)
		require.Equal(t, "go run ./bench "+args, m.Command)
		require.Empty(t, m.Incomplete)
		require.NotEmpty(t, m.Tables)
		for _, table := range m.Tables {
			require.NotEmpty(t, table.Rows)
			for _, cell := range slices.Concat(table.Rows...) {
				require.Contains(t, r.stdout, cell)
			}
		}
	}
}

// block matches what is generated, and the lines around it, which stay: "<!-- WHAT of FILES -->".
var block = regexp.MustCompile(`(?s)(<!-- (\w+) of (\S+) -->\n)(.*?)(<!-- end -->)`)

// markdown returns the command of files, where and when it ran, and tables.
func markdown(files []measured, tables []report.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n\n", files[0].Command)
	var where []string
	for _, m := range files {
		e := m.Environment
		where = append(where, fmt.Sprintf("%s, %s, %s.", e.CPU, e.GoVersion, e.Date))
	}
	b.WriteString(strings.Join(where, " ") + "\n") // a paragraph in one line
	for _, t := range tables {
		fmt.Fprintf(&b, "\n%s:\n\n%s\n", t.Title, t.Markdown())
	}
	return b.String() + "\n"
}

// A measured is a file of results. Its records and tables are what its command made of them.
type measured struct {
	path, machine string // Zen 5
	report.Report
	JSON json.RawMessage `json:"records"`
}

// recorded returns the files in dir that match a pattern.
func recorded(t *testing.T, dir, pattern string) (files []measured) {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	for _, path := range paths {
		m := measured{path: path, machine: strings.Replace(filepath.Base(filepath.Dir(path)),
			"zen", "Zen ", 1)}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &m), path)
		require.NoError(t, m.report(), path)
		files = append(files, m)
	}
	return files
}

// report lets the command of the file report its records.
func (m *measured) report() error {
	args := strings.Fields(strings.TrimPrefix(m.Command, "go run ./bench"))
	j, err := parse(context.Background(), args, io.Discard)
	if err != nil {
		return err
	}
	switch command := j.parsed.Selected().Target.Addr().Interface().(type) {
	case *enginesCommand:
		config, err := command.config(j)
		return errors.Join(err, show(m, config.Report))
	case *filtersCommand:
		return show(m, filters.ReportSpeeds)
	case *ratesCommand:
		return show(m, filters.ReportRates)
	}
	return nil
}

func show[R any](m *measured, report func(*report.Report, R)) error {
	var records R
	err := json.Unmarshal(m.JSON, &records)
	report(&m.Report, records)
	return err
}

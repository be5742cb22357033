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

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
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
	files, err := filepath.Glob("results/*/*.json")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimPrefix(file, "results/")
		require.Contains(t, generated, "<!-- tables of "+name+" -->")
	}
}

// Of what each command writes with --json, the tables are those that it printed.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	for args, row := range map[string]string{
		"filters --n=36 --filters=goleveldb,pebblev2,bloom,ribbon:7": "| work | keys " +
			"per filter | goleveldb, ns | goleveldb-again | pebblev2 | bloom | ribbon:7 |",
		"rates --queries=20000 --n=20,1k --shape=random,decimal --density=alternating,beyond " +
			"--bits=10 --filters=ribbon,bloom:10": "| 20 | bloom:10 | 10.40 | 1.90 | " +
			"11.21 (10.46–12.00) | decimal alternating |",
		"engines --num=3000 --disk=0s --engines=goleveldb --filters=bloom": "| goleveldb | bloom " +
			"| 12.",
	} {
		r := bench(t, append(strings.Fields(args), "--json", filepath.Join(dir, "r.json"))...)
		require.Zero(t, r.status, r.stderr)
		require.Regexp(t, // a processor with a long name makes the line wrap
			`\n.+,\sGOMAXPROCS\s[0-9]+,\s[a-z]+/[a-z0-9]+,\sgo1[^,]+,\scommit\s.+\n`, r.stdout)
		const before = "Text.\n\n<!-- tables of r.json -->\n"
		const after = "<!-- end of tables -->\nMore.\n"
		text, err := withTables(before+"old tables\n"+after, dir)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(text, before))
		require.True(t, strings.HasSuffix(text, after))
		require.NotContains(t, text, "old tables")
		require.Contains(t, text, "\n    go run ./bench "+args+"\n")
		require.Contains(t, text, row)
		require.Contains(t, text, ", go1.")
		for _, cell := range strings.Split(text, " | ") {
			if !strings.Contains(cell, "\n") && cell[0] >= '0' && cell[0] <= '9' {
				require.Contains(t, r.stdout, cell)
			}
		}
		_, err = withTables(before+text, dir)
		require.ErrorContains(t, err, "the tables of r.json do not end")
	}
	_, err := withTables("<!-- tables of other.json -->\n<!-- end of tables -->", dir)
	require.ErrorContains(t, err, "no such file")
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

// A measured is a file of results.
type measured struct {
	report.Report
	Records json.RawMessage `json:"records"`
}

func readReport(path string) (m measured, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err = json.Unmarshal(data, &m); err == nil {
		m.Tables, err = tablesOf(m)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return m, err
}

// tablesOf returns the tables that the command of a file shows of its records.
func tablesOf(m measured) ([]report.Table, error) {
	args := strings.Fields(strings.TrimPrefix(m.Command, "go run ./bench"))
	j, err := parse(context.Background(), args, io.Discard)
	if err != nil {
		return nil, err
	}
	switch command := j.parsed.Selected().Target.Addr().Interface().(type) {
	case *enginesCommand:
		config, configErr := command.config(j)
		var records enginebench.Records
		if err = errors.Join(configErr, json.Unmarshal(m.Records, &records)); err == nil {
			config.Report(&m.Report, records)
		}
	case *filtersCommand:
		var records []filters.Speed
		if err = json.Unmarshal(m.Records, &records); err == nil {
			filters.ReportSpeeds(&m.Report, records)
		}
	case *ratesCommand:
		var records []filters.Rate
		if err = json.Unmarshal(m.Records, &records); err == nil {
			filters.ReportRates(&m.Report, records)
		}
	}
	return m.Report.Tables, err
}

// markdown returns a report's command, where and when it ran, and its tables.
func markdown(m measured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n\n%s, %s, %s.\n", m.Command,
		m.Environment.CPU, m.Environment.GoVersion, m.Environment.Date)
	for _, t := range m.Tables {
		fmt.Fprintf(&b, "\n%s:\n\n%s\n", t.Title, t.Markdown())
	}
	return b.String() + "\n"
}

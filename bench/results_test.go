package main

import (
	"cmp"
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
	generated := map[string]string{} // by path
	generated["RESULTS.md"], err = fill(string(text), "results")
	require.NoError(t, err)
	for _, p := range pictures {
		files, err := recorded("results", p.files)
		require.NoError(t, err)
		generated[p.path] = p.draw(files).svg()
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
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 300)
	files, err := filepath.Glob("results/*/*.json")
	require.NoError(t, err)
	for _, file := range files {
		shown := slices.ContainsFunc(block.FindAllStringSubmatch(string(text), -1),
			func(parts []string) bool {
				matches, _ := filepath.Match("results/"+parts[3], file)
				return matches
			})
		require.True(t, shown, file)
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
		require.Regexp(t, // a processor with a long name makes the line wrap
			`\n.+,\sGOMAXPROCS\s[0-9]+,\s[a-z]+/[a-z0-9]+,\sgo1[^,]+,\scommit\s.+\n`, r.stdout)
		m := read()
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

// fill returns the text with all blocks as the files in dir make them.
func fill(text, dir string) (string, error) {
	var failed error
	text = block.ReplaceAllStringFunc(text, func(old string) string {
		parts := block.FindStringSubmatch(old)
		files, err := recorded(dir, parts[3])
		tables, ok := contents[parts[2]]
		switch {
		case strings.Contains(parts[4], "<!--"):
			err = errors.New("no end")
		case !ok:
			err = errors.New("no such content")
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s of %s: %w", parts[2], parts[3], err))
			return old
		}
		return parts[1] + markdown(files, tables(files)) + parts[5]
	})
	return text, failed
}

// markdown returns the command of files, where and when it ran, and tables.
func markdown(files []measured, tables []report.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n\n", files[0].Command)
	for _, m := range files {
		fmt.Fprintf(&b, "%s, %s, %s.\n", m.Environment.CPU, m.Environment.GoVersion,
			m.Environment.Date)
	}
	for _, t := range tables {
		fmt.Fprintf(&b, "\n%s:\n\n%s\n", t.Title, t.Markdown())
	}
	return b.String() + "\n"
}

// A measured is a file of results. Its records and tables are what its command made of them.
type measured struct {
	machine string // Zen 5
	report.Report
	JSON json.RawMessage `json:"records"`
}

// recorded returns the files in dir that match a pattern.
func recorded(dir, pattern string) (files []measured, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if len(paths) == 0 {
		err = cmp.Or(err, os.ErrNotExist)
	}
	for _, path := range paths {
		m := measured{machine: strings.Replace(filepath.Base(filepath.Dir(path)),
			"zen", "Zen ", 1)}
		data, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr, json.Unmarshal(data, &m), m.report())
		files = append(files, m)
	}
	return files, err
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
		return show(m, err, config.Report)
	case *filtersCommand:
		return show(m, nil, filters.ReportSpeeds)
	case *ratesCommand:
		return show(m, nil, filters.ReportRates)
	}
	return nil
}

func show[R any](m *measured, err error, report func(*report.Report, R)) error {
	var records R
	if err = errors.Join(err, json.Unmarshal(m.JSON, &records)); err == nil {
		report(&m.Report, records)
	}
	return err
}

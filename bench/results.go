package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

//go:generate go run . results --file RESULTS.md

// resultsCommand writes the tables of RESULTS.md.
type resultsCommand struct {
	File string `default:"bench/RESULTS.md" help:"The text, beside the directory results."`
}

func (*resultsCommand) Help() string {
	return "Replaces the tables in bench/RESULTS.md by those of the files in bench/results, which " +
		"the other subcommands write with --json. Lines before the tables name the files."
}

// Run is the subcommand.
func (f *resultsCommand) Run(*job) error {
	text, err := os.ReadFile(f.File)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	generated, err := withTables(string(text), filepath.Join(filepath.Dir(f.File), "results"))
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	return os.WriteFile(f.File, []byte(generated), 0o644)
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

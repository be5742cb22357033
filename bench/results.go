package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

//go:generate go run . results --file RESULTS.md

// measurements are the commands whose tables RESULTS.md shows, by the names of their files, the
// most important first.
var measurements = []struct{ name, command string }{
	{"engines", "engines"},
	{"speed", "filters"},
	{"rates", "rates --queries 100000 -n 8,36,500,10k,100k"},
	{"l6", "engines --engines pebblev1,pebblev2 --filters none,ribbon+L6,ribbon --num 500k " +
		"--reads 16384 --rounds 1 --compact"},
	{"windows", "engines --engines goleveldb --filters bloom,tuned,ribbon --baselg 16 --rounds 1 " +
		"--disk 0s"},
	{"shapes", "rates --shape random,decimal,decimal15,user,bigendian,littleendian --density 63% " +
		"-n 20,36,51,100,500,10k,100k --bits 10"},
}

// resultsCommand writes the tables of RESULTS.md.
type resultsCommand struct {
	Measure string   `placeholder:"DIR" help:"Measure first, such as into bench/results/zen3."`
	Only    []string `placeholder:"NAMES" help:"Measure only some, such as engines,speed."`
	File    string   `default:"bench/RESULTS.md" help:"The text, beside the directory results."`
	Quick   bool     `help:"Short runs, to try the commands."`
}

func (*resultsCommand) Help() string {
	return "Replaces the tables in bench/RESULTS.md by those of the files in bench/results. With " +
		"--measure it runs the commands first, which takes 10 minutes on 2 quiet cores. A file that " +
		"is missing has its command in the place of its tables."
}

// Run is the subcommand.
func (f *resultsCommand) Run(j *job) error {
	if f.Measure != "" {
		if err := f.measure(j); err != nil || f.Quick {
			return err
		}
	}
	text, err := os.ReadFile(f.File)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	generated, err := withTables(string(text), filepath.Join(filepath.Dir(f.File), "results"))
	if err != nil {
		return err
	}
	return os.WriteFile(f.File, []byte(generated), 0o644)
}

// measure runs the commands and stores what they measure.
func (f *resultsCommand) measure(j *job) error {
	if err := os.MkdirAll(f.Measure, 0o755); err != nil {
		return fmt.Errorf("--measure: %w", err)
	}
	var failed error
	for _, m := range measurements {
		if f.Only != nil && !slices.Contains(f.Only, m.name) {
			continue
		}
		if j.ctx.Err() != nil {
			return errors.Join(failed, j.ctx.Err())
		}
		args := strings.Fields(m.command)
		if f.Quick {
			args = append(args, "--quick")
		}
		start := time.Now()
		measured, err := runForFile(j.ctx, args)
		fmt.Fprintf(j.stdout, "%s: %v\n", m.name, time.Since(start).Round(time.Second))
		if err == nil {
			err = storeResult(filepath.Join(f.Measure, m.name+".json"), storedResult{commandLine(args),
				time.Now().Format(time.DateOnly), measured.Environment, measured.Versions,
				measured.Tables})
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return failed
}

// A storedResult is what a file in bench/results has: the tables of one command on one machine.
type storedResult struct {
	Command     string             `json:"command"`
	Date        string             `json:"date"`
	Environment report.Environment `json:"environment"`
	Versions    map[string]any     `json:"versions"`
	Tables      []report.TextTable `json:"tables"`
}

func storeResult(path string, r storedResult) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// The lines around the tables of a file, whose name follows the first one.
const (
	tablesBegin = "<!-- tables of "
	tablesEnd   = "<!-- end of tables -->"
)

// withTables returns the text with the tables of the files that it names, in dir.
func withTables(text, dir string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, tablesBegin)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, rest, ok := strings.Cut(rest, " -->\n")
		_, after, ended := strings.Cut(rest, tablesEnd)
		if !ok || !ended {
			return "", fmt.Errorf("RESULTS.md: %.40q has no %q", name, tablesEnd)
		}
		tables, err := tablesOf(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s%s -->\n%s%s", tablesBegin, name, tables, tablesEnd)
		text = after
	}
}

// tablesOf returns what RESULTS.md shows of a file, or how to measure it if there is none.
func tablesOf(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		return fmt.Sprintf("\nNot measured yet on this processor: `go run ./bench results --only %s "+
			"--measure bench/results/%s`.\n\n", name, filepath.Base(filepath.Dir(path))), nil
	}
	if err != nil {
		return "", err
	}
	var r storedResult
	if err := json.Unmarshal(data, &r); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return r.markdown(), nil
}

// markdown writes the command, where and when it ran, and its tables.
func (r *storedResult) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n\n%s, %s, %s.\n", r.Command, r.Environment.CPU,
		r.Environment.GoVersion, r.Date)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n%s:\n\n| %s |\n|", t.Title, strings.Join(t.Columns, " | "))
		for i := range t.Columns {
			if i < t.Keys {
				b.WriteString(":--- |")
			} else {
				b.WriteString(" ---:|")
			}
		}
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "\n| %s |", strings.Join(row, " | "))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	return b.String()
}

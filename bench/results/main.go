// Command results writes the tables of bench/RESULTS.md, and its picture, from the files beside it,
// which bench wrote with --json. A line before a table says what it shows, and of which files.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

//go:generate go run .

func main() {
	generated, err := generate()
	for path, text := range generated {
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// block matches what is generated, and the lines around it, which stay.
var block = regexp.MustCompile(`(?s)(<!-- (\w+) of (\S+) -->\n)(.*?)(<!-- end -->)`)

// generate returns the generated files by their path.
func generate() (map[string]string, error) {
	const document = "../RESULTS.md"
	text, err := os.ReadFile(document)
	if err != nil {
		return nil, err
	}
	blocks := block.ReplaceAllStringFunc(string(text), func(old string) string {
		parts := block.FindStringSubmatch(old)
		files, readErr := read(parts[3])
		if readErr != nil {
			err = readErr
			return old
		}
		return parts[1] + markdown(files, contents[parts[2]](files)) + parts[5]
	})
	if err != nil {
		return nil, err
	}
	files, err := read("zen3/engines*.json")
	if err != nil {
		return nil, err
	}
	picture := draw(records[engines.Record](files[0]), records[engines.Record](files[1]))
	return map[string]string{document: blocks, "reads.svg": picture}, nil
}

// A file is what bench wrote with --json.
type file struct {
	machine     string // Zen 5
	Command     string
	Environment report.Environment
	Records     json.RawMessage
}

// read returns the files that match a pattern.
func read(pattern string) (files []file, err error) {
	paths, err := filepath.Glob(pattern)
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no file %s", pattern)
	}
	for _, path := range paths {
		f := file{machine: strings.Replace(filepath.Dir(path), "zen", "Zen ", 1)}
		data, readErr := os.ReadFile(path)
		if readErr == nil {
			readErr = json.Unmarshal(data, &f)
		}
		if readErr != nil {
			return nil, fmt.Errorf("%s: %w", path, readErr)
		}
		files = append(files, f)
	}
	return files, err
}

// records returns the records of a file. It panics if they are others.
func records[R any](f file) (all []R) {
	if err := json.Unmarshal(f.Records, &all); err != nil {
		panic(err)
	}
	return all
}

// markdown returns the commands of files, where and when they ran, and a table.
func markdown(files []file, t report.Table) string {
	var commands, environments []string
	for _, f := range files {
		commands = append(commands, "    "+f.Command)
		e := f.Environment
		environments = append(environments, fmt.Sprintf("%s, %s, %s.", e.CPU, e.GoVersion, e.Date))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n%s\n\n%s:\n\n%s\n\n", strings.Join(slices.Compact(commands), "\n"),
		strings.Join(slices.Compact(environments), " "), t.Title, t.Markdown())
	return b.String()
}

const disk = 100 * time.Microsecond // by default

// contents are what blocks show of their files.
var contents = map[string]func([]file) report.Table{
	"engines": func(files []file) report.Table {
		return engines.Table(records[engines.Record](files[0]), disk)
	},
	"speeds": func(files []file) report.Table {
		return filters.SpeedTable(records[filters.Speed](files[0]))
	},
	"rates": func(files []file) report.Table {
		return filters.RateTable(records[filters.Rate](files[0]))
	},
	"processors": processorsTable,
}

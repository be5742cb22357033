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

func main() {
	for path, text := range generate() {
		must(path, os.WriteFile(path, []byte(text), 0o644))
	}
}

// must returns x, or ends the program.
func must[T any](x T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return x
}

// block matches what is generated, and the lines around it, which stay.
var block = regexp.MustCompile(`(?s)(<!-- (\w+) of (\S+) -->\n)(.*?)(<!-- end -->)`)

// generate returns the generated files by their path.
func generate() map[string]string {
	const document = "../RESULTS.md"
	text := string(must(os.ReadFile(document)))
	text = block.ReplaceAllStringFunc(text, func(old string) string {
		parts := block.FindStringSubmatch(old)
		files := read(parts[3])
		return parts[1] + markdown(files, contents[parts[2]](files)) + parts[5]
	})
	cases := read("zen3/engines*.json")
	picture := draw(records[engines.Record](cases[0]), records[engines.Record](cases[1]))
	return map[string]string{document: text, "reads.svg": picture}
}

// A file is what bench wrote with --json.
type file struct {
	machine     string // Zen 5
	Command     string
	Environment report.Environment
	Records     json.RawMessage
}

// read returns the files that match a pattern.
func read(pattern string) (files []file) {
	for _, path := range must(filepath.Glob(pattern)) {
		f := file{machine: strings.Replace(filepath.Dir(path), "zen", "Zen ", 1)}
		must(path, json.Unmarshal(must(os.ReadFile(path)), &f))
		files = append(files, f)
	}
	return files
}

// records returns the records of a file.
func records[R any](f file) (all []R) {
	must(f, json.Unmarshal(f.Records, &all))
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
	return fmt.Sprintf("\n%s\n\n%s\n\n%s:\n\n%s\n\n", strings.Join(slices.Compact(commands), "\n"),
		strings.Join(slices.Compact(environments), " "), t.Title, t.Markdown())
}

const disk = 100 * time.Microsecond // by default

// contents are what blocks show of their files.
var contents = map[string]func([]file) report.Table{
	"engines": func(files []file) report.Table {
		return engines.Table(records[engines.Record](files[0]), disk)
	},
	"rates": func(files []file) report.Table {
		return filters.RateTable(records[filters.Rate](files[0]))
	},
}

// Command results writes the tables of bench/RESULTS.md, and its picture, from the files beside it,
// which bench wrote with --json. A line before a table says what it shows, and of which file.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
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
		f := read(parts[3])
		return parts[1] + f.markdown(contents[parts[2]](f)) + parts[5]
	})
	picture := draw(records[engines.Record](read("zen5/engines.json")),
		records[engines.Record](read("zen5/engines_decimal.json")))
	return map[string]string{document: text, "reads.svg": picture}
}

// A file is what bench wrote with --json.
type file struct {
	Command     string
	Environment report.Environment
	Records     json.RawMessage
}

func read(path string) (f file) {
	must(path, json.Unmarshal(must(os.ReadFile(path)), &f))
	return f
}

// records returns the records of a file.
func records[R any](f file) (all []R) {
	must(f, json.Unmarshal(f.Records, &all))
	return all
}

// markdown returns the command of a file, where and when it ran, and a table.
func (f file) markdown(t report.Table) string {
	e := f.Environment
	return fmt.Sprintf("\n    %s\n\n%s, %s, %s.\n\n%s:\n\n%s\n\n", f.Command, e.CPU, e.GoVersion,
		e.Date, t.Title, t.Markdown())
}

const disk = 100 * time.Microsecond // by default

// contents are what blocks show of their file.
var contents = map[string]func(file) report.Table{
	"engines": func(f file) report.Table { return engines.Table(records[engines.Record](f), disk) },
	"rates":   func(f file) report.Table { return filters.RateTable(records[filters.Rate](f)) },
}

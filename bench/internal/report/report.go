// Package report presents what a benchmark measured: as text for a terminal, as Markdown for
// documents, and as JSON for programs.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/klauspost/cpuid/v2"
)

// A Report is what one run of a benchmark measured, with what it depends on. Its JSON has all but
// the chart and the table.
type Report struct {
	Conclusion  string      `json:"conclusion,omitempty"` // the first line
	BarsTitle   string      `json:"-"`
	Bars        []float64   `json:"-"`       // a chart, of the table's rows
	Command     string      `json:"command"` // as it is typed
	Environment Environment `json:"environment"`
	Notes       []string    `json:"notes,omitempty"` // paragraphs
	Table       Table       `json:"-"`               // sums the records up
	Records     any         `json:"records"`         // a slice of structs
}

// Environment says what a benchmark ran on, and when.
type Environment struct {
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"` // that the program uses (GOMAXPROCS)
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	GoVersion string `json:"go_version"`
	Version   string `json:"version"`
	Date      string `json:"date"`
}

// ThisEnvironment describes this machine and this program, today.
func ThisEnvironment() Environment {
	return Environment{processor(), runtime.GOMAXPROCS(0), runtime.GOOS,
		runtime.GOARCH, runtime.Version(), Version(), time.Now().Format(time.DateOnly)}
}

// processor returns the processor's name, with the family and the model that x86 processors have:
// several processors share a name.
func processor() string {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = "unknown CPU"
	}
	if cpuid.CPU.Family != 0 {
		name += fmt.Sprintf(" (family %d, model %d)", cpuid.CPU.Family, cpuid.CPU.Model)
	}
	return name
}

// Version returns the version of the program's module, which names the commit unless `go run`
// built it in a clone.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(info.Main.Version, "(devel)")
}

func (e Environment) String() string {
	return fmt.Sprintf("%s, GOMAXPROCS %d, %s/%s, %s, %s", e.CPU, e.Cores, e.OS, e.Arch,
		e.GoVersion, e.Version)
}

// WriteJSON writes the report as JSON, with a line for each record.
func (r *Report) WriteJSON(w io.Writer) error {
	text, err := json.Marshal(r)
	_, writeErr := w.Write(append(bytes.ReplaceAll(text, []byte("},{"), []byte("},\n{")), '\n'))
	return errors.Join(err, writeErr)
}

// width is what lines of text have at most, but for long words.
const width = 80

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Conclusion != "" {
		fmt.Fprintln(&b, wrap(r.Conclusion, width)+"\n")
	}
	r.chart(&b)
	fmt.Fprintln(&b, r.Table.text())
	for _, line := range append(r.Notes, r.Command, r.Environment.String()) {
		fmt.Fprintln(&b, wrap(line, width))
	}
	_, err := io.WriteString(w, trailing.ReplaceAllString(b.String(), ""))
	return err
}

// trailing matches the spaces that lines of tables and wrapped lines end with.
var trailing = regexp.MustCompile(`(?m) +$`)

// wrap breaks the lines of s between words.
func wrap(s string, width int) string {
	return trailing.ReplaceAllString(text.WrapSoft(s, width), "")
}

// chart draws the bars, unless there is nothing to be seen.
func (r *Report) chart(w io.Writer) {
	const longest = 30
	most := 0.0
	for _, value := range r.Bars {
		most = max(most, value)
	}
	if most == 0 {
		return
	}
	fmt.Fprintln(w, r.BarsTitle)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, value := range r.Bars {
		row := strings.Join(r.Table.Rows[i][:r.Table.Keys], "\t")
		length := int(math.Round(longest * value / most))
		drawn := cmp.Or(strings.Repeat("█", length), "▏")
		fmt.Fprintf(columns, "%s\t%s %s\n", row, drawn, Digits(value))
	}
	fmt.Fprintln(columns)
	columns.Flush()
}

// Progress writes a line to stderr before a step of a benchmark, from 0 on, of total steps.
func Progress(step, total int, what string) {
	fmt.Fprintf(os.Stderr, "[%*d/%d] %s\n", len(fmt.Sprint(total)), step+1, total, what)
}

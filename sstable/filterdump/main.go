package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// The exit status.
const (
	exitSound     = 0
	exitFault     = 1 // a false negative, corruption, or a table that is missing
	exitCannotRun = 2 // not all could be verified
)

func main() {
	limitMemory()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const help = `Says which filters would serve a database of LevelDB, goleveldb or Pebble best,
and whether the ones that it has are sound. Nothing is changed. The exit status
is 0 if all is sound, 1 if something is damaged, and 2 otherwise.`

// options is the command line.
type options struct {
	Paths   []filePath       `arg:"" name:"PATH" help:"A database directory (in use or not) or table."`
	Verify  bool             `help:"Only verify filters: read all tables once, not twice and more."`
	JSON    bool             `name:"json" help:"Write the report as JSON, with all tables."`
	Policy  []string         `placeholder:"NAME" sep:"none" help:"${policyHelp}"`
	Version kong.VersionFlag `help:"Print the version."`
}

const policyHelp = "Treat filters named NAME as LevelDB's or levelbloom's: report lost keys as " +
	"faults. May be repeated."

// A filePath is a path as the program was given it. A string of kong's passes through JSON, which
// replaces what is not UTF-8.
type filePath string

// Decode implements kong.MapperValue.
func (p *filePath) Decode(c *kong.DecodeContext) error {
	*p = filePath(c.Scan.Pop().String())
	return nil
}

// parse returns what args ask for. It ends the program with -h or --version.
func parse(args []string) (*options, error) {
	o, version := new(options), "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	parser, err := kong.New(o, kong.Name("filterdump"), kong.Description(help),
		kong.Vars{"policyHelp": policyHelp, "version": version},
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: width, NoAppDescFormat: true}))
	if err == nil {
		_, err = parser.Parse(args)
	}
	return o, err
}

// controls are what json leaves as it is, and a terminal could take for a command.
var controls = regexp.MustCompile(`[\x{7f}-\x{9f}\x{200b}-\x{206f}]`)

// run is the program. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "filterdump:", printable(err.Error()))
		return exitCannotRun
	}
	o, err := parse(args)
	if err != nil {
		return fail(fmt.Errorf("%w (see -h)", err))
	}
	var all []*census.Database
	show := progress(stderr, time.Tick(2*time.Second))
	for _, path := range o.Paths {
		all = append(all, census.Read(string(path), census.Options{Policies: o.Policy,
			Verify: o.Verify, Progress: show}))
	}
	r := newReport(all)
	for _, name := range o.Policy {
		if !r.policies[name] {
			r.Verdict = strings.TrimPrefix(r.Verdict+
				fmt.Sprintf("; no filter of the policy %q was read", name), "; ")
		}
	}
	text := r.text()
	if o.JSON {
		contents, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fail(err)
		}
		text = controls.ReplaceAllStringFunc(string(contents)+"\n", func(c string) string {
			return fmt.Sprintf(`\u%04x`, []rune(c)[0])
		})
	}
	if _, err = io.WriteString(stdout, text); err != nil {
		return fail(err)
	}
	return r.status
}

// progress returns a function that says on standard error what is being done, once after each tick.
func progress(stderr io.Writer, tick <-chan time.Time) func(format string, args ...any) {
	return func(format string, args ...any) {
		select {
		case <-tick:
			fmt.Fprintln(stderr, "filterdump:", printable(fmt.Sprintf(format, args...)))
		default:
		}
	}
}

// A report is the whole output. Its JSON is that of --json.
type report struct {
	Verdict string             `json:"verdict"` // whether all is sound
	Paths   []*census.Database `json:"paths"`

	status   int             // the exit status
	policies map[string]bool // whose filters tables have
}

// newReport adds up what was read.
func newReport(databases []*census.Database) *report {
	r := &report{Paths: databases, policies: map[string]bool{}}
	tables := map[verify.Status]int{}
	damaged, unread, unnamed := 0, 0, 0
	for _, d := range databases {
		unnamed += d.Unnamed
		switch {
		case d.Damaged:
			damaged++
		case d.Note != "":
			unread++
		}
		for _, t := range d.Tables {
			tables[t.Status]++
			r.policies[t.Policy] = true
		}
	}
	var parts []string
	say := func(n int, unit, words string) {
		if n > 1 {
			unit += "s"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s", verdict.Thousands(int64(n)), unit, words))
		}
	}
	say(damaged, "database", "damaged")
	for _, s := range verify.Statuses {
		say(tables[s], "table", string(s))
		if s.IsFault() {
			damaged += tables[s]
		} else if !s.IsFine() {
			unread += tables[s]
		}
	}
	say(unnamed, "table", "ignored: in no manifest")
	if r.Verdict = strings.Join(parts, "; "); r.Verdict == "" && unread == 0 {
		r.Verdict = "no tables"
	}
	switch {
	case damaged > 0:
		r.Verdict, r.status = "FAULTY: "+r.Verdict, exitFault
	case unread > 0:
		r.status = exitCannotRun
	}
	return r
}

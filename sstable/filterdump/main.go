package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/page"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// The exit status.
const (
	exitSound       = 0
	exitFault       = 1 // a false negative, corruption, or a table that is missing
	exitCannotRun   = 2 // not all could be verified
	exitInterrupted = 130
)

func main() {
	limitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// interrupts are the signals that end the program, but for those that it was started to ignore.
func interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	return slices.DeleteFunc(all, signal.Ignored)
}

const help = `Shows and verifies the filters in databases of LevelDB, goleveldb and Pebble, and
says which filters would serve them best. Nothing is changed.

The status is 0 if all keys match their filters, 1 if a table has a false
negative, is corrupt or is missing, 2 if something could not be read or verified.`

// options is the command line.
type options struct {
	Paths []filePath `arg:"" name:"PATH" help:"A database directory, maybe in use, or a table."`

	Verify   bool             `help:"Compare the keys with the filters, and count no reads."`
	Tables   bool             `help:"List all tables."`
	JSON     bool             `name:"json" help:"Write the report as JSON."`
	Page     string           `placeholder:"FILE" help:"Also write the report as an HTML page."`
	Policies []string         `placeholder:"PATTERN" sep:"none" help:"${policiesHelp}"`
	Version  kong.VersionFlag `help:"Print the version."`
}

// A filePath is a path as the program was given it. A string of kong's passes through JSON, which
// replaces what is not UTF-8.
type filePath string

// Decode implements kong.MapperValue.
func (p *filePath) Decode(c *kong.DecodeContext) error {
	text, ok := c.Scan.Pop().Value.(string)
	if !ok {
		return errors.New("a path is missing")
	}
	*p = filePath(text)
	return nil
}

const policiesHelp = "Read the filters of policies whose names match PATTERN, such as 'mine.*', " +
	"as LevelDB's or levelbloom's; may be repeated."

// parse returns what args ask for, or nil if it printed help instead.
func parse(args []string, stdout io.Writer) (*options, error) {
	o, helped, version := new(options), false, "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	parser, err := kong.New(o, kong.Name("filterdump"), kong.Description(help),
		kong.Vars{"policiesHelp": policiesHelp, "version": version},
		kong.Writers(stdout, io.Discard),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 80, NoAppDescFormat: true}),
		kong.Exit(func(int) { helped = true }))
	if err != nil {
		return nil, err
	}
	_, err = parser.Parse(args)
	if helped {
		return nil, nil
	}
	for _, arg := range args {
		if err != nil && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
			return nil, fmt.Errorf("%s: write -%[1]s, with two dashes", arg)
		}
	}
	for _, pattern := range o.Policies {
		if _, bad := path.Match(pattern, ""); err == nil && bad != nil {
			err = fmt.Errorf("--policies %s: %w", pattern, bad)
		}
	}
	return o, err
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "filterdump: %s (see -h)\n", scan.Printable(err.Error()))
		return exitCannotRun
	}
	if o == nil {
		return exitSound
	}
	databases, err := o.read(ctx, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "filterdump: interrupted")
		return exitInterrupted
	}
	report := newReport(databases)
	if err := o.write(report, stdout); err != nil {
		fmt.Fprintln(stderr, "filterdump:", scan.Printable(err.Error()))
		return exitCannotRun
	}
	return report.exitStatus()
}

// read reads all PATHs. The error is that of ctx.
func (o *options) read(ctx context.Context, stderr io.Writer) (all []*census.Database, err error) {
	show := progress(stderr, time.Tick(2*time.Second))
	for _, path := range o.Paths {
		d, err := census.Read(ctx, string(path), census.Options{
			Policies: o.Policies, Verify: o.Verify, Progress: show})
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// write writes the report in the ways that were asked for.
func (o *options) write(r *report, stdout io.Writer) error {
	if o.Page != "" {
		var b bytes.Buffer
		if err := page.Write(&b, r.page(true)); err != nil {
			return err
		}
		if err := os.WriteFile(o.Page, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if o.JSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err := io.WriteString(stdout, asText(r.page(o.Tables)))
	return err
}

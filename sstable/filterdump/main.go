package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// The exit status.
const (
	exitSound       = 0
	exitFault       = 1 // a false negative, or corruption
	exitCannotRun   = 2 // not all could be verified
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(
		context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options is the command line.
type options struct {
	paths  []string
	tables scan.Settings
	verify bool // count nothing
	json   bool
}

const usage = `filterdump [flags] PATH...

Shows and verifies the filters in tables of LevelDB, goleveldb and Pebble. A
PATH is a table file (.ldb, .sst) or a database directory, which may be in use.
Nothing is changed.

  -verify      compare the keys with the filters, and count nothing
  -key K       show only how the filters answer for K: text, or 0x and hex
  -json        write the report as JSON (go doc names its fields)
  -bloom NAME  policy NAME has filters of LevelDB's or levelbloom's encodings;
               may be repeated

The status is 0 if all keys match their filters, 1 if a table has a false
negative or is corrupt, 2 if something could not be read or verified.
`

// parse reads the command line. Its messages go to stderr.
func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("filterdump", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	f.BoolVar(&o.json, "json", false, "")
	f.BoolVar(&o.verify, "verify", false, "")
	f.Func("key", "", func(k string) (err error) {
		o.tables.Key, err = parseKey(k)
		return err
	})
	f.Func("bloom", "", func(name string) error {
		o.tables.Bloom = append(o.tables.Bloom, name)
		return nil
	})
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.paths = f.Args()
	err := o.check()
	if err != nil {
		fmt.Fprintln(stderr, "filterdump:", err)
	}
	return &o, err
}

func (o *options) check() error {
	for _, path := range o.paths {
		if strings.HasPrefix(path, "-") {
			return fmt.Errorf("%s after a PATH: put flags first, or write ./%[1]s for a file",
				analysis.Printable(path))
		}
	}
	switch {
	case len(o.paths) == 0:
		return errors.New("no PATH: pass tables (.ldb, .sst) or database directories")
	case o.tables.Key != nil && (o.json || o.verify):
		return errors.New("-key stands alone: leave out -json and -verify")
	}
	return nil
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitSound
	case err != nil:
		return exitCannotRun
	}
	places, results, err := o.read(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "filterdump: interrupted")
		return exitInterrupted
	}
	report := newReport(places, results)
	switch {
	case o.json:
		err = report.writeJSON(stdout)
	case o.tables.Key != nil:
		err = report.writeKey(stdout, o.tables.Key)
	default:
		err = report.writeText(stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "filterdump:", err)
		return exitCannotRun
	}
	return report.exitStatus()
}

// read reads all PATHs. The error is that of ctx.
func (o *options) read(ctx context.Context) (places []place, results []*scan.Result, err error) {
	r := scan.NewReader(o.tables)
	defer r.Close()
	for _, path := range o.paths {
		p := findPlace(path)
		if p.structure == nil || o.verify || o.tables.Key != nil {
			found, err := r.Tables(ctx, p.tables, nil)
			if err != nil {
				return nil, nil, err
			}
			places, results = append(places, p), append(results, found...)
			continue
		}
		d, err := census.Read(ctx, r, path, p.structure)
		if err == nil {
			p.Verdict, err = d.Count(ctx, r)
		}
		if err != nil {
			return nil, nil, err
		}
		p.tables = nil // which may have become others
		for _, result := range d.Results {
			p.tables = append(p.tables, result.Path)
		}
		places, results = append(places, p), append(results, d.Results...)
	}
	return places, results, nil
}

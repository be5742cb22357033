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
)

// The exit status.
const (
	exitSound       = 0
	exitFault       = 1 // a false negative, or corruption
	exitCannotRun   = 2 // not all could be verified
	exitInterrupted = 130
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		os.Exit(runChild(os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(
		context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options is the command line.
type options struct {
	paths  []string
	tables settings
	json   bool
}

const usage = `filterdump [flags] PATH...

Shows and verifies the filters in tables of LevelDB, goleveldb and Pebble. A
PATH is a table file (.ldb, .sst) or a database directory, which may be in use.
Nothing is changed.

  -verify      compare the keys with the filters, and measure no rate
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
	f.BoolVar(&o.tables.VerifyOnly, "verify", false, "")
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
				printable(path))
		}
	}
	switch {
	case len(o.paths) == 0:
		return errors.New("no PATH: pass tables (.ldb, .sst) or database directories")
	case o.tables.Key != nil && (o.json || o.tables.VerifyOnly):
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
	var places []place
	var paths []string
	for _, path := range o.paths {
		p := findPlace(path)
		places, paths = append(places, p), append(paths, p.tables...)
	}
	results, err := scan(ctx, paths, o.tables)
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

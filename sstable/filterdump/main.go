package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

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
	bloom  []string // policies whose filters package policy reads
	verify bool     // count nothing
	json   bool
}

const usage = `filterdump [flags] PATH...

Shows and verifies the filters in tables of LevelDB, goleveldb and Pebble, and
says which filters would serve a database best. A PATH is a database directory,
which may be in use, or a table file (.ldb, .sst). Nothing is changed.

  -verify      compare the keys with the filters, and count no reads
  -json        write the report as JSON
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
	f.Func("bloom", "", func(name string) error {
		o.bloom = append(o.bloom, name)
		return nil
	})
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if o.paths = f.Args(); len(o.paths) > 0 {
		return &o, nil
	}
	err := errors.New("no PATH: pass tables (.ldb, .sst) or database directories")
	fmt.Fprintln(stderr, "filterdump:", err)
	return nil, err
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
	databases, err := o.read(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "filterdump: interrupted")
		return exitInterrupted
	}
	report := newReport(databases)
	write := report.writeText
	if o.json {
		write = report.writeJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintln(stderr, "filterdump:", err)
		return exitCannotRun
	}
	return report.exitStatus()
}

// read reads all PATHs. The error is that of ctx.
func (o *options) read(ctx context.Context) (all []*census.Database, err error) {
	r := scan.Reader{Bloom: o.bloom}
	for _, path := range o.paths {
		d, err := census.Read(ctx, r, path)
		if err == nil && d.IsDirectory && d.Note == "" && !o.verify {
			err = d.Count(ctx, r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

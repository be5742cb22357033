package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
)

// The exit status.
const (
	exitSound       = 0
	exitFault       = 1 // a false negative, corruption, or a table that is missing
	exitCannotRun   = 2 // not all could be verified
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// interrupts are the signals that end the program, but for those that it was started to ignore.
func interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	return slices.DeleteFunc(all, signal.Ignored)
}

const help = `Usage: filterdump PATH... [flags]

Says which filters would serve a database of LevelDB, goleveldb or Pebble best,
and whether the ones that it has are sound. Nothing is changed. PATH is a
database's directory, which may be in use, or a table.

  --verify    Only compare the keys with the filters; count no reads.
  --json      Write the report as JSON, with all tables.
  --version   Print the version.
  -h, --help  Print this.

The exit status is 0 if all keys match their filters, 1 if a table has a false
negative, is corrupt or is missing, 2 if something could not be read or
verified.
`

// options is the command line.
type options struct {
	paths                 []string
	verify, json, version bool
}

// parse returns what args ask for. Flags may stand before and after paths.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("filterdump", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.verify, "verify", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	for err == nil {
		if err = flags.Parse(args); flags.NArg() == 0 {
			break
		}
		o.paths, args = append(o.paths, flags.Arg(0)), flags.Args()[1:]
	}
	if err == nil && len(o.paths) == 0 && !o.version {
		err = errors.New("pass a PATH")
	}
	return o, err
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "filterdump:", printable(err.Error()))
		return exitCannotRun
	}
	status := exitSound
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, help)
	case err != nil:
		return fail(fmt.Errorf("%w (see -h)", err))
	case o.version:
		version := "unknown"
		if info, ok := debug.ReadBuildInfo(); ok {
			version = info.Main.Version
		}
		_, err = fmt.Fprintln(stdout, version)
	default:
		var r *report
		if r, err = o.read(ctx, stderr); err != nil {
			fmt.Fprintln(stderr, "filterdump: interrupted")
			return exitInterrupted
		}
		status = r.status
		if o.json {
			e := json.NewEncoder(stdout)
			e.SetIndent("", "  ")
			err = e.Encode(r)
		} else {
			_, err = io.WriteString(stdout, r.text())
		}
	}
	if err != nil {
		return fail(err)
	}
	return status
}

// read reads all paths. The error is that of ctx.
func (o *options) read(ctx context.Context, stderr io.Writer) (*report, error) {
	var all []*census.Database
	show := progress(stderr, time.Tick(2*time.Second))
	for _, path := range o.paths {
		d, err := census.Read(ctx, path, census.Options{Verify: o.verify, Progress: show})
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return newReport(all), nil
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

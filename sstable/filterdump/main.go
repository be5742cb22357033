package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

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

const help = `Shows and verifies the filters in tables of LevelDB, goleveldb and Pebble, and
says which filters would serve a database best. Nothing is changed.

The status is 0 if all keys match their filters, 1 if a table has a false
negative or is corrupt, 2 if something could not be read or verified.`

// options is the command line.
type options struct {
	Paths []string `arg:"" name:"PATH" help:"A database directory, which may be in use, or a table."`

	Verify bool     `help:"Compare the keys with the filters, and count no reads."`
	JSON   bool     `name:"json" help:"Write the report as JSON."`
	Bloom  []string `placeholder:"NAME" sep:"none" help:"${bloomHelp}"`
}

const bloomHelp = "The filters of policy NAME are of LevelDB's or levelbloom's encodings; may be " +
	"repeated."

// parse returns what args ask for, or nil if it printed help instead.
func parse(args []string, stdout io.Writer) (*options, error) {
	o, helped := new(options), false
	parser, err := kong.New(o, kong.Name("filterdump"), kong.Description(help),
		kong.Vars{"bloomHelp": bloomHelp}, kong.Writers(stdout, io.Discard),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 80, NoAppDescFormat: true}),
		kong.Exit(func(int) { helped = true }))
	if err != nil {
		return nil, err
	}
	_, err = parser.Parse(args)
	if helped {
		return nil, nil
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
	databases, err := o.read(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "filterdump: interrupted")
		return exitInterrupted
	}
	report := newReport(databases)
	write := report.writeText
	if o.JSON {
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
	r := scan.Reader{Bloom: o.Bloom}
	for _, path := range o.Paths {
		d, err := census.Read(ctx, r, path)
		if err == nil && d.IsDirectory && d.Note == "" && !o.Verify {
			err = d.Count(ctx, r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

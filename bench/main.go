// Command bench compares filters: speed, size and false positives, alone and inside engines.
// `bench -h` lists its subcommands.
//
// It fills temporary databases with generated keys. Use it to choose a filter before there is a
// database, and to compare speeds. To learn what lookups read in a database that you have, and what
// to change there, use command filterdump.
//
// The exit status is 0 if all went well, 1 if a key was lost or a rate breaks its bound, 2 if the
// benchmark could not run to its end, and 130 if it was interrupted or nobody reads its output any
// longer. Whatever was measured before that is printed and written, marked as incomplete.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

const (
	exitWrong       = 1
	exitCannotRun   = 2
	exitInterrupted = 130
)

const help = `Compares filters. In a clone of the repository, bench is "go run ./bench", and
anywhere else "go run github.com/levelbloom/levelbloom/bench@latest". In every
ratio above 1 is better.`

// subcommands are what args begin with; without one it is engines.
type subcommands struct {
	Engines enginesCommand `cmd:"" default:"withargs" help:"Filters in storage engines (default)."`
	Filters filtersCommand `cmd:"" help:"For bench/RESULTS.md: speed of filters by themselves."`
	Rates   ratesCommand   `cmd:"" help:"For bench/RESULTS.md: false-positive rates, and bounds."`
	Play    playCommand    `cmd:"" help:"A page that shows filters at work: bits and probes."`

	Version kong.VersionFlag `help:"Print the version."`
}

// A job is what a subcommand gets in addition to its flags.
type job struct {
	ctx      context.Context
	command  string // what was typed, but for --json
	stdout   io.Writer
	parsed   *kong.Context
	progress report.Progress
}

// errInterrupted is why the context ends after Ctrl-C, or when nobody reads the output any longer.
var errInterrupted = errors.New("interrupted")

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		<-signals
		cancel(errInterrupted)
		signal.Reset(os.Interrupt, syscall.SIGTERM) // a second one ends the program at once
	}()
	os.Exit(exitStatus(os.Stderr, run(ctx, os.Args[1:], os.Stdout)))
}

// run runs the subcommand that args name.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	j, err := parse(ctx, args, stdout)
	if err != nil {
		return fmt.Errorf("%w (see -h)", err)
	}
	return j.parsed.Run(j)
}

// toJSON matches the flag that names a file of this machine.
var toJSON = regexp.MustCompile(` --json[ =]\S+`)

// parse returns what args ask for. If that is help, it prints it and ends the program.
func parse(ctx context.Context, args []string, stdout io.Writer) (*job, error) {
	for _, arg := range args {
		if arg == "" || strings.HasSuffix(arg, "=") {
			return nil, fmt.Errorf("%q needs a value", arg)
		}
	}
	parser, err := kong.New(new(subcommands), kong.Name("bench"), kong.Description(help),
		vocabulary(), kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 80,
			NoAppDescFormat: true, NoExpandSubcommands: true}))
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	for _, arg := range args {
		if err != nil && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
			err = fmt.Errorf("%s: write -%[1]s, with two dashes", arg)
		}
	}
	typed := strings.Join(append([]string{"go run ./bench"}, args...), " ")
	command := toJSON.ReplaceAllString(typed, "")
	return &job{ctx, command, stdout, parsed, report.NewProgress(os.Stderr)}, err
}

// exitStatus prints err to w, a line for each message, and returns the status that goes with it.
func exitStatus(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintln(w, "bench:", line)
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, syscall.EPIPE) {
		return exitInterrupted
	}
	if errors.Is(err, keys.ErrLost) || errors.Is(err, filters.ErrBound) {
		return exitWrong
	}
	return exitCannotRun
}

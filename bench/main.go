// Command bench compares filters: what lookups read in storage engines with and without them.
// `bench -h` says more.
//
// It fills temporary databases with generated keys. Use it to choose a filter before there is a
// database. To learn what lookups read in a database that you have, and what to change there, use
// command filterdump.
//
// The exit status is 0 if all went well, 1 if a key was lost or a rate breaks its bound, 2 if the
// benchmark could not run to its end, and 130 if it was interrupted or nobody reads its output any
// longer. Whatever was measured before that is printed and written, marked as incomplete, unless an
// engine gave up.
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

//go:generate go run -C results .

const (
	exitWrong       = 1
	exitCannotRun   = 2
	exitInterrupted = 130
)

// A command has the flags of a job as fields.
type command interface {
	help() string
	run(j *job) error
}

// newCommand returns the command that args begin with, and its name: without one, the main job.
func newCommand(args []string) (string, command) {
	others := map[string]command{"rates": new(ratesCommand), "play": new(playCommand)}
	if len(args) > 0 && others[args[0]] != nil {
		return args[0], others[args[0]]
	}
	return "", new(enginesCommand)
}

// A job is what a command gets in addition to its flags.
type job struct {
	ctx      context.Context
	typed    string // but for --json
	stdout   io.Writer
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

// toJSON matches the flag that names a file of this machine.
var toJSON = regexp.MustCompile(` --json[ =]\S+`)

// run runs the command that args name. If they ask for help, it prints it and ends the program.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	name, c := newCommand(args)
	if err := parse(name, c, args); err != nil {
		return fmt.Errorf("%w (see -h)", err)
	}
	typed := strings.Join(append([]string{"go run ./bench"}, args...), " ")
	return c.run(&job{ctx, toJSON.ReplaceAllString(typed, ""), stdout,
		report.NewProgress(os.Stderr)})
}

func parse(name string, c command, args []string) error {
	parser, err := kong.New(c, kong.Name(strings.TrimSpace("bench "+name)),
		kong.Description(c.help()),
		names, kong.Vars{"version": report.Version()},
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 80, NoAppDescFormat: true}))
	if err != nil {
		return err
	}
	if name != "" {
		args = args[1:]
	}
	_, err = parser.Parse(args)
	return err
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

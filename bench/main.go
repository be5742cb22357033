// Command bench compares filters: what lookups read in storage engines with and without them.
// `bench -h` says more.
//
// It fills temporary databases with generated keys. Use it to choose a filter before there is a
// database. To learn what lookups read in a database that you have, and what to change there, use
// command filterdump.
//
// The exit status is 0 if all went well, 1 if a key was lost or a rate breaks its bound, 2 if the
// benchmark could not run to its end, and 130 if it was interrupted or nobody reads its output any
// longer: it then prints nothing.
package main

import (
	"context"
	"errors"
	"fmt"
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

func main() { os.Exit(exitStatus(run(os.Args[1:]))) }

// toJSON matches the flag that names a file of this machine.
var toJSON = regexp.MustCompile(` --json[ =]\S+`)

// run runs the command that args name. If they ask for help, it prints it and ends the program.
func run(args []string) error {
	typed := strings.Join(append([]string{"go run ./bench"}, args...), " ")
	if len(args) == 0 || args[0] != "rates" && args[0] != "play" {
		args = append([]string{"engines"}, args...)
	}
	parser, err := kong.New(new(commands), kong.Name("bench"), texts,
		kong.Vars{"version": report.Version()},
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 80}))
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (see -h)", err)
	}
	return command.Run(toJSON.ReplaceAllString(typed, ""))
}

// untilInterrupted returns a context that ends on Ctrl-C, or when nobody reads the output any
// longer.
func untilInterrupted() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(),
		os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return ctx
}

// exitStatus returns the status that goes with err, and prints err to stderr unless the program was
// interrupted.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled), errors.Is(err, syscall.EPIPE):
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "bench:", strings.ReplaceAll(err.Error(), "\n", "\nbench: "))
	if errors.Is(err, keys.ErrLost) || errors.Is(err, filters.ErrBound) {
		return exitWrong
	}
	return exitCannotRun
}

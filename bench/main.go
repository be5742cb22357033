// Command bench measures what filters do.
//
//	bench [engines] [flags]    on real databases: goleveldb, Pebble v1 and Pebble v2, each with its filters
//	bench filters [flags]      by themselves: how fast implementations of filters look up keys and make filters
//	bench rates [flags]        by themselves: their false-positive rates, for many shapes and numbers of keys
//	bench levels [flags]       in Pebble v2, while keys are written and looked up: which encoding for which level
//
// `bench engines -help`, and so on, lists the flags. The exit status is 0 if all went well, 1 if a key was lost, filters of
// the same encoding differ or a rate breaks its bound, 2 if the benchmark could not run, and 130 if it was interrupted.
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

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/bench/ratebench"
)

const (
	exitWrong       = 1
	exitCannotRun   = 2
	exitInterrupted = 130
)

// errInterrupted is why the context ends after Ctrl-C.
var errInterrupted = errors.New("interrupted")

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		signal.Stop(signals) // a second one ends the program at once
		cancel(errInterrupted)
	}()
	os.Exit(exitStatus(os.Stderr, run(ctx, os.Args[1:], os.Stdout)))
}

// run runs the subcommand that args begin with; without one it is engines.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	name := "engines"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	switch name {
	case "engines":
		return engines(ctx, args, stdout)
	case "filters":
		return filters(ctx, args, stdout)
	case "rates":
		return rates(ctx, args, stdout)
	case "levels":
		return levels(ctx, args, stdout)
	default:
		return fmt.Errorf("no subcommand %q: there are engines, filters, rates and levels", name)
	}
}

// exitStatus prints err to w in one line and returns the status that goes with it.
func exitStatus(w io.Writer, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(w, "bench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(w, "bench:", strings.Join(strings.Fields(err.Error()), " "))
	if errors.Is(err, measure.ErrLostKey) || errors.Is(err, filterbench.ErrWrong) || errors.Is(err, ratebench.ErrBound) {
		return exitWrong
	}
	return exitCannotRun
}

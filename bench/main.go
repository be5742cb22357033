// Command bench measures what filters do. `bench help` lists its subcommands.
//
// The exit status is 0 if all went well, 1 if a key was lost, an answer was wrong or a rate breaks
// its bound, 2 if the benchmark could not run to its end, and 130 if it was interrupted. Whatever
// was measured before that is printed and written, marked as incomplete.
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

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

const (
	exitWrong       = 1
	exitCannotRun   = 2
	exitInterrupted = 130
)

const help = `Usage: bench [SUBCOMMAND] [FLAGS]

Measures what filters do. Without a subcommand it runs engines. In a clone of
the repository, bench is "go run ./bench", and anywhere else
"go run github.com/levelbloom/levelbloom/bench@latest".

  engines   filters in real databases, on disks of any speed: speed, reads
            avoided, false positives, memory; ends with advice (3 minutes)
  filters   filters by themselves: speed of lookups, batches and builds
  rates     filters by themselves: false-positive rates by shape of keys,
            density and number of keys, and whether they keep their bounds
  size      how many bits per key: what to configure and what it costs, by the
            number of keys and the rate or the memory that you want
  curve     rates against fill, bits per key and keys per filter, measured and
            predicted, as tables and as a picture
  report    runs engines, filters, rates and curve, and makes one page of what
            they measure: which filter for your keys, which setting, and what it
            costs (10 minutes; -quick: 1 minute)
  play      a page in the browser that shows filters at work: bits, probes,
            and why a key is a false positive
  help      shows this text, or the flags of a subcommand: help rates

Every subcommand but report and play prints tables as text, or as Markdown with
-markdown, and writes what it measured as JSON (with a description of each
field) and CSV with -json FILE and -csv FILE. In every ratio above 1 is better.
`

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
	if len(args) > 0 {
		switch args[0] {
		case "help":
			if len(args) > 1 {
				return run(ctx, []string{args[1], "-help"}, stdout)
			}
			fallthrough
		case "-help", "--help", "-h":
			_, err := io.WriteString(stdout, help)
			return err
		}
		if !strings.HasPrefix(args[0], "-") {
			name, args = args[0], args[1:]
		}
	}
	subcommands := map[string]func(context.Context, []string, io.Writer) error{
		"engines": engines, "filters": filters, "rates": rates, "size": size, "curve": curve,
		"report": reports, "play": playPage,
	}
	subcommand, ok := subcommands[name]
	if !ok {
		return fmt.Errorf("no subcommand %q: "+
			"choose engines, filters, rates, size, curve, report, play or help", name)
	}
	return subcommand(ctx, args, stdout)
}

// exitStatus prints err to w, a line for each message, and returns the status that goes with it.
func exitStatus(w io.Writer, err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintln(w, "bench:", line)
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	for _, wrong := range []error{
		enginebench.ErrLostKey, filterbench.ErrWrong, ratebench.ErrLostKey, ratebench.ErrBound,
	} {
		if errors.Is(err, wrong) {
			return exitWrong
		}
	}
	return exitCannotRun
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/levelbloom/levelbloom/bench/report"
)

// parseFlags parses the arguments of a subcommand, and tells which flags were given. With -help it prints usage and the flags.
func parseFlags(set *flag.FlagSet, args []string, usage string, stdout io.Writer) (given map[string]bool, err error) {
	set.SetOutput(io.Discard) // an error is printed once, by exitStatus
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stdout, usage)
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: see -help", set.Arg(0))
	}
	given = map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given, nil
}

// setOthers sets flags that were not given.
func setOthers(set *flag.FlagSet, given map[string]bool, values map[string]string) error {
	for name, value := range values {
		if !given[name] {
			if err := set.Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// settingsOf returns the values of all flags but those that say where to write.
func settingsOf(set *flag.FlagSet, outputs ...string) (settings []report.Setting) {
	set.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(outputs, f.Name) {
			settings = append(settings, report.Setting{Name: f.Name, Value: f.Value.String()})
		}
	})
	return settings
}

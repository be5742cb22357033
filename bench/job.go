package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A job is what a subcommand gets in addition to its flags.
type job struct {
	ctx      context.Context
	command  string // what was typed
	stdout   io.Writer
	parsed   *kong.Context
	progress report.Progress
	notes    []string // about the keys
}

// quick gives flags that the command line leaves out the values of their tags "quick", if it has
// the flag --quick.
func quick(c *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value := flag.Tag.Get("quick")
	for _, p := range c.Path {
		if value != "" && p.Flag != nil && p.Flag.Name == "quick" && c.FlagValue(p.Flag) == true {
			return value, nil
		}
	}
	return nil, nil
}

// report returns a report of a run that ended with err, with everything but what was measured.
func (j *job) report(err error) *report.Report {
	r := &report.Report{Command: j.command, Environment: report.ThisEnvironment(), Notes: j.notes}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return r
}

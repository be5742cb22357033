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

// report returns a report of a run that ended with err, with everything but what was measured.
func (j *job) report(err error) *report.Report {
	r := &report.Report{Command: j.command, Environment: report.ThisEnvironment(), Notes: j.notes}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return r
}

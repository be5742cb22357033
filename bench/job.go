package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/labreport"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A job is what a subcommand gets besides its flags.
type job struct {
	ctx      context.Context
	args     []string
	stdout   io.Writer
	parsed   *kong.Context
	progress report.Progress
	notes    []string // about the user's own keys
}

// A measurement is a subcommand that returns what it measured, or nil if it did not come to that.
// After an error the report has what was measured before.
type measurement interface {
	measure(j *job) (*report.Report, error)
}

// given reports whether the command line has a flag.
func (j *job) given(name string) bool {
	for _, p := range j.parsed.Path {
		if p.Flag != nil && p.Flag.Name == name && !p.Resolved {
			return true
		}
	}
	return false
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
	r := &report.Report{Command: commandLine(j.args), Environment: report.ThisEnvironment(),
		Notes: j.notes}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return r
}

// commandLine returns what to type to run bench with the arguments.
func commandLine(args []string) string {
	line := "go run ./bench"
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?#~`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " " + arg
	}
	return line
}

// A part is a run of a measurement.
type part struct {
	name string
	args []string
}

// runParts runs the parts, and goes on after one that failed, unless the context ended.
func runParts(j *job, all []part) (parts []labreport.Part, failed error) {
	for i, p := range all {
		if j.ctx.Err() != nil {
			return parts, errors.Join(failed, context.Cause(j.ctx))
		}
		progress := func(step, steps int, what string) {
			j.progress((100*i+100*step/steps)/len(all), 100, p.name+": "+what)
		}
		done := labreport.Part{Name: p.name}
		measured, err := p.run(j.ctx, progress)
		if measured != nil {
			done.Report = *measured
		}
		if err != nil {
			done.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		parts = append(parts, done)
	}
	return parts, failed
}

func (p part) run(ctx context.Context, progress report.Progress) (*report.Report, error) {
	j, err := parse(ctx, p.args, io.Discard)
	if err != nil {
		return nil, err
	}
	j.progress = progress
	return j.parsed.Selected().Target.Addr().Interface().(measurement).measure(j)
}

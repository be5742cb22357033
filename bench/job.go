package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A job is what a subcommand gets besides its flags.
type job struct {
	ctx    context.Context
	args   []string
	stdout io.Writer
	parsed *kong.Context
	note   string // about the user's own keys
}

func (j *job) progress() report.Progress { return report.ProgressOf(j.ctx, os.Stderr) }

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

// report returns a report with everything but what was measured.
func (j *job) report() *report.Report {
	node := j.parsed.Selected()
	r := &report.Report{Command: "bench " + node.Name, Environment: report.ThisEnvironment()}
	for _, flag := range node.Flags {
		if flag.Group == nil && !flag.Target.IsZero() { // but for the outputs
			value := fmt.Sprint(flag.Target)
			if list, ok := strings.CutPrefix(value, "["); ok {
				value = strings.ReplaceAll(strings.TrimSuffix(list, "]"), " ", ",")
			}
			r.Settings = append(r.Settings, report.Setting{Name: flag.Name, Value: value})
		}
	}
	if j.note != "" {
		r.Notes = append(r.Notes, j.note)
	}
	return r
}

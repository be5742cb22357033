package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

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
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	line := programName(os.Args[0], version)
	for _, arg := range args {
		line += " " + quoted(arg)
	}
	return line
}

// quoted returns an argument as a shell takes it.
func quoted(arg string) string {
	if strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?#~`") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// programName returns what runs a program of that path and of that version of its module: its name,
// unless `go run` built it.
func programName(path, version string) string {
	switch {
	case !strings.Contains(path, "go-build"):
		return filepath.Base(path)
	case version == "" || version == "(devel)":
		return "go run ./bench"
	}
	return "go run github.com/levelbloom/levelbloom/bench@" + version
}

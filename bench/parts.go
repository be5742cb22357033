package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/labreport"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A part is a run of a subcommand.
type part struct {
	name string
	args []string
}

// runParts runs the parts, and goes on after one that failed, unless the context ended.
func runParts(j *job, all []part) (parts []labreport.Part, failed error) {
	progress := j.progress()
	for i, p := range all {
		if j.ctx.Err() != nil {
			return parts, errors.Join(failed, context.Cause(j.ctx))
		}
		ctx := report.WithProgress(j.ctx, func(step, steps int, what string) {
			progress((100*i+100*step/steps)/len(all), 100, p.name+": "+what)
		})
		measured := labreport.Part{Name: p.name, Command: commandLine(p.args)}
		var err error
		if measured.Report, err = runForFile(ctx, p.args); err != nil {
			measured.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		parts = append(parts, measured)
	}
	return parts, failed
}

// runForFile runs a subcommand and returns what it writes as JSON, after an error too.
func runForFile(ctx context.Context, args []string) (f report.File, err error) {
	dir, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report.json")
	err = run(ctx, append(args, "--json", path), io.Discard)
	data, readErr := os.ReadFile(path)
	if readErr == nil && len(data) > 0 {
		readErr = json.Unmarshal(data, &f)
	}
	if err == nil {
		err = readErr
	}
	return f, err
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

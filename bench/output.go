package main

import (
	"errors"
	"os"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON output `name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// write writes what was measured before the benchmark ended with err, unless that is nothing, and
// returns all errors. fill fills in the report.
func (o *outputs) write(j *job, nothing bool, err error, fill func(*report.Report)) error {
	if nothing {
		return err
	}
	r := &report.Report{Command: j.command, Environment: report.ThisEnvironment()}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	fill(r)
	return errors.Join(err, r.WriteText(j.stdout), o.JSON.write(r))
}

// An output is the path of a file, or empty.
type output string

// UnmarshalText checks that the file can be written before the benchmark runs, and not after. It
// leaves the file as it was, or empty.
func (o *output) UnmarshalText(path []byte) error {
	*o = output(path)
	file, err := os.OpenFile(string(path), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}

func (o output) write(r *report.Report) error {
	if o == "" {
		return nil
	}
	file, err := os.Create(string(o))
	if err != nil {
		return err
	}
	return errors.Join(r.WriteJSON(file), file.Close())
}

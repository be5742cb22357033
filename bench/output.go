package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON output `group:"Output" name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// write writes what was measured before the benchmark ended with err, unless that is nothing, and
// returns all errors. fill fills in the report.
func (o *outputs) write(j *job, nothing bool, err error, fill func(*report.Report)) error {
	if nothing {
		return err
	}
	r := &report.Report{Command: j.command, Environment: report.ThisEnvironment(), Notes: j.notes}
	if err != nil {
		r.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	fill(r)
	return errors.Join(err, r.WriteText(j.stdout), o.JSON.write(r.WriteJSON))
}

// An output is the path of a file. UnmarshalText checks that it can be written, before the
// benchmark runs and not after, and leaves the file as it was, or missing.
type output string

func (o *output) UnmarshalText(text []byte) error {
	*o = output(text)
	_, missing := os.Stat(string(*o))
	file, err := os.OpenFile(string(*o), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = file.Close()
	if errors.Is(missing, os.ErrNotExist) {
		err = errors.Join(err, os.Remove(string(*o)))
	}
	return err
}

func (o output) write(f func(io.Writer) error) error {
	if o == "" {
		return nil
	}
	file, err := os.Create(string(o))
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}

package main

import (
	"errors"
	"io"
	"os"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes in addition to stdout.
type outputs struct {
	JSON output `group:"Output" name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// run measures, writes the report, and returns all errors. measure returns what it measured before
// an error, or nil if that is nothing.
func (o *outputs) run(j *job, measure func(*job) (*report.Report, error)) error {
	r, err := measure(j)
	if r == nil {
		return err
	}
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

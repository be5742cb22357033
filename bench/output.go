package main

import (
	"errors"
	"io"
	"os"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes, besides stdout.
type outputs struct {
	JSON output `group:"Output" name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// run measures, writes the report, and returns all errors. measure returns nil if it did not come to
// measure anything, and what it measured before an error.
func (o *outputs) run(j *job, measure func(*job) (*report.Report, error)) error {
	r, err := measure(j)
	if r == nil {
		return err
	}
	return errors.Join(err, r.WriteText(j.stdout), o.JSON.write(r.WriteJSON))
}

// An output is a file, which keeps what it has until write. That it can be written is found out when
// the flag is read, before the benchmark runs and not after. A file that was not there is not there
// until write either.
type output struct {
	path string
	file *os.File // nil if it is not there yet
}

func (o *output) UnmarshalText(text []byte) (err error) {
	o.path = string(text)
	_, missing := os.Stat(o.path)
	o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil && errors.Is(missing, os.ErrNotExist) {
		err = errors.Join(o.file.Close(), os.Remove(o.path))
		o.file = nil
	}
	return err
}

func (o *output) write(f func(io.Writer) error) (err error) {
	if o.path == "" {
		return nil
	}
	if o.file == nil {
		if o.file, err = os.Create(o.path); err != nil {
			return err
		}
	}
	_ = o.file.Truncate(0) // a pipe cannot be truncated
	return errors.Join(f(o.file), o.file.Close())
}

// is reports whether the file is that of another path.
func (o *output) is(path string) bool {
	if o.file == nil {
		return false
	}
	mine, err := o.file.Stat()
	other, otherErr := os.Stat(path)
	return err == nil && otherErr == nil && os.SameFile(mine, other)
}

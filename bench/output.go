package main

import (
	"errors"
	"io"
	"os"
)

// outputs is where a report goes, besides stdout.
type outputs struct {
	JSON output `group:"Output" name:"json" placeholder:"FILE" help:"Write a described JSON file."`
}

// run runs a measurement, writes its report if it has one, and returns all errors.
func (o *outputs) run(j *job, m measurement) error {
	r, err := m.measure(j)
	if r == nil {
		return err
	}
	return errors.Join(err, r.WriteText(j.stdout), o.JSON.write(r.WriteJSON))
}

// An output is a file, which keeps what it has until write. It is opened when the flag is read, so
// that a wrong path is found before the benchmark runs and not after.
type output struct {
	path string
	file *os.File
}

func (o *output) UnmarshalText(text []byte) (err error) {
	o.path = string(text)
	o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o644)
	return err
}

func (o *output) write(f func(io.Writer) error) error {
	if o.file == nil {
		return nil
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

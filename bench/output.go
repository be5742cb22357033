package main

import (
	"errors"
	"io"
	"os"
	"reflect"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes.
type outputs struct {
	Markdown bool   `group:"Output" help:"Print the tables as Markdown."`
	JSON     output `group:"Output" name:"json" placeholder:"FILE" help:"Write a described JSON file."`

	SVG, Bench output `kong:"-"` // of subcommands that write them
}

// finish writes the report of a run that ended with err, if anything was measured, and returns all
// errors.
func (o *outputs) finish(r *report.Report, stdout io.Writer, err error) error {
	if r.Records == nil || reflect.ValueOf(r.Records).Len() == 0 {
		return err
	}
	r.Incomplete = err
	writeText := func(w io.Writer) error { return r.WriteText(w, 100) }
	if o.Markdown {
		writeText = r.WriteMarkdown
	}
	return errors.Join(err, writeText(stdout), o.JSON.write(r.WriteJSON),
		o.SVG.write(r.WriteSVG), o.Bench.write(r.WriteBench))
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

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"golang.org/x/term"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes.
type outputs struct {
	markdown  bool
	json, csv output
	svg       output // of subcommands that draw
	bench     output // of filters
}

// open opens the files, so that a wrong path is found before the benchmark runs and not after.
func (o *outputs) open() error {
	return errors.Join(o.json.open("json"), o.csv.open("csv"), o.svg.open("svg"),
		o.bench.open("bench"))
}

// finish writes the report of a run that ended with err, if anything was measured, and returns all
// errors.
func (o *outputs) finish(r *report.Report, stdout io.Writer, err error) error {
	if r.Records == nil || reflect.ValueOf(r.Records).Len() == 0 {
		return err
	}
	r.Incomplete = err
	writeText := func(w io.Writer) error { return r.WriteText(w, width(stdout)) }
	if o.markdown {
		writeText = r.WriteMarkdown
	}
	return errors.Join(err, writeText(stdout), o.json.write(r.WriteJSON), o.csv.write(r.WriteCSV),
		o.svg.write(r.WriteSVG), o.bench.write(r.WriteBench))
}

// width returns the width of a terminal, or 100.
func width(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return max(60, columns)
		}
	}
	return 100
}

// An output is a file, which keeps what it has until write. An empty path is no file.
type output struct {
	path string
	file *os.File
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (o *output) open(flag string) (err error) {
	if o.path == "" {
		return nil
	}
	if o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return fmt.Errorf("-%s: %w", flag, err)
	}
	return nil
}

func (o *output) write(f func(io.Writer) error) error {
	if o.file == nil {
		return nil
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() { // no pipe
		if err := o.file.Truncate(0); err != nil {
			return err
		}
	}
	return errors.Join(f(o.file), o.file.Close())
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"golang.org/x/term"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// outputs is where a report goes.
type outputs struct {
	markdown  bool
	json, csv output
}

// open opens the files, so that a wrong path is found before the benchmark runs and not after.
func (o *outputs) open() error {
	if o.json.path != "" && filepath.Clean(o.json.path) == filepath.Clean(o.csv.path) {
		return fmt.Errorf("-json and -csv both name %s: pass two files", o.json.path)
	}
	if err := o.json.open(); err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	if err := o.csv.open(); err != nil {
		o.json.discard()
		return fmt.Errorf("-csv: %w", err)
	}
	return nil
}

func (o *outputs) discard() {
	o.json.discard()
	o.csv.discard()
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
	return errors.Join(err, writeText(stdout), o.json.write(r.WriteJSON), o.csv.write(r.WriteCSV))
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

// An output is a file that appears under its name only when all of it is written. What is no
// regular file, such as a pipe or a terminal, is written directly. An empty path is no file.
type output struct {
	path string
	file *os.File
	temp bool // file is to be renamed to path
}

func (o *output) open() error {
	if o.path == "" {
		return nil
	}
	given := o.path
	if real, err := filepath.EvalSymlinks(given); err == nil {
		o.path = real // what a symbolic link points to is replaced, not the link
	}
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory: pass the name of a file", given)
	case err == nil && !info.Mode().IsRegular():
		o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
		return err
	}
	o.temp = true
	o.file, err = os.CreateTemp(filepath.Dir(o.path), ".levelbloom-bench-")
	return err
}

// discard closes the file, and removes it if it does not have its name yet.
func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		if o.temp {
			os.Remove(o.file.Name())
		}
	}
}

// write writes the file with f and gives it its name.
func (o *output) write(f func(io.Writer) error) error {
	if o.file == nil {
		return nil
	}
	if err := f(o.file); err != nil || !o.temp {
		return err
	}
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	return os.Rename(o.file.Name(), o.path)
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A workspace is a temporary directory that is gone when the program ends, unless it is killed.
type workspace struct{ dir string }

func newWorkspace(parent string) (workspace, error) {
	dir, err := os.MkdirTemp(parent, "levelbloom-bench-")
	return workspace{dir}, err
}

// remove removes the directory. An engine that is stuck may still be writing: it tries for a while.
func (w workspace) remove() (err error) {
	for range 50 {
		if err = os.RemoveAll(w.dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// An output is a file that appears under its name only when all of it is written. What is no regular file, such as a pipe
// or a terminal, is written directly. The zero value is no file.
type output struct {
	path string
	file *os.File
	temp bool // file is to be renamed to path
}

// newOutput opens the file, so that a wrong path shows before the benchmark runs and not after. path may be empty.
func newOutput(path string) (o output, err error) {
	if path == "" {
		return output{}, nil
	}
	o.path = path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		o.path = real // what a symbolic link points to is replaced, not the link
	}
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return output{}, fmt.Errorf("%s is a directory: pass the name of a file", path)
	case err == nil && !info.Mode().IsRegular():
		o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
		return o, err
	}
	o.temp = true
	o.file, err = os.CreateTemp(filepath.Dir(o.path), ".levelbloom-bench-")
	return o, err
}

// discard closes the file, and removes it if it does not have its name yet.
func (o output) discard() {
	if o.file != nil {
		o.file.Close()
		if o.temp {
			os.Remove(o.file.Name())
		}
	}
}

// write writes the file with f and gives it its name.
func (o output) write(f func(io.Writer) error) error {
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

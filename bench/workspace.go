package main

import (
	"os"
	"path/filepath"
	"time"
)

// A workspace is a temporary directory that is gone when the program ends, however it ends.
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

// An output is a file that appears under its name only when all of it is written. The zero value is no file.
type output struct {
	path string
	temp *os.File
}

// newOutput makes the temporary file, so that a wrong path shows before the benchmark runs and not after. path may be
// empty.
func newOutput(path string) (output, error) {
	if path == "" {
		return output{}, nil
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".levelbloom-bench-")
	return output{path, temp}, err
}

// discard removes the temporary file if it is still there.
func (o output) discard() {
	if o.temp != nil {
		o.temp.Close()
		os.Remove(o.temp.Name())
	}
}

// write writes the file with f and gives it its name.
func (o output) write(f func(*os.File) error) error {
	if o.temp == nil {
		return nil
	}
	if err := f(o.temp); err != nil {
		return err
	}
	if err := o.temp.Chmod(0o644); err != nil {
		return err
	}
	if err := o.temp.Close(); err != nil {
		return err
	}
	return os.Rename(o.temp.Name(), o.path)
}

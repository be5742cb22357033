package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A View is a directory that an engine opens instead of a database's own. It has a copy of the
// manifest, and links to the tables. So the engine takes no lock, replays no log and changes
// nothing, and everyone who opens the view sees the same database.
type View struct {
	Settings
	Dir      string
	Tables   map[int]string // the tables in the database's directory: file names by number
	Manifest []byte

	open []*os.File
}

// ErrNoDatabase is wrapped by the error for a directory that is no database's.
var ErrNoDatabase = errors.New("no database")

// NewView returns a view of the database in dir. Whoever calls it closes the view.
func NewView(dir string) (v *View, err error) {
	v = &View{Tables: map[int]string{}}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	if v.Dir, err = os.MkdirTemp("", "filterdump-"); err != nil {
		return nil, err
	}
	if err = v.fill(dir, entries); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// fill copies the manifest before it links the tables, so that few are deleted in between.
func (v *View) fill(dir string, entries []fs.DirEntry) error {
	current := ""
	for _, e := range entries { // sorted: the markers of Pebble, which prefers them, come last
		switch name := e.Name(); {
		case name == "CURRENT":
			text, err := v.copy(dir, name)
			if err != nil {
				return err
			}
			current = strings.TrimSuffix(string(text), "\n")
		case strings.HasPrefix(name, "marker."):
			if err := os.WriteFile(filepath.Join(v.Dir, name), nil, 0o600); err != nil {
				return err
			}
			current = cmp.Or(marked(name, "manifest"), current)
		}
	}
	if current == "" {
		return fmt.Errorf("%w: there is no CURRENT", ErrNoDatabase)
	}
	var err error
	if v.Manifest, err = v.copy(dir, filepath.Base(current)); err != nil {
		return err
	}
	v.Settings = settingsOf(dir, entries)
	return v.linkTables(dir, entries)
}

// copy copies a file, and returns what is in it.
func (v *View) copy(dir, name string) ([]byte, error) {
	b, err := readFile(filepath.Join(dir, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(v.Dir, name), b, 0o600)
	}
	return b, err
}

// linkTables links the tables, and Pebble's files of large values.
func (v *View) linkTables(dir string, entries []fs.DirEntry) error {
	// Not all files that a process may open: the tables are read too.
	const spare = 100
	for range spare {
		if file, err := os.Open(v.Dir); err == nil {
			defer file.Close()
		}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if number := Number(path); number >= 0 {
			v.Tables[number] = e.Name()
		} else if filepath.Ext(path) != ".blob" {
			continue
		}
		if err := v.link(path); err != nil {
			return err
		}
	}
	return nil
}

// link links a file that it keeps open, if the system lets others open that, too: Linux does. The
// database may delete the file meanwhile.
func (v *View) link(path string) error {
	target := path
	const noWait = syscall.O_NONBLOCK // for a pipe's writer
	if file, err := os.OpenFile(path, os.O_RDONLY|noWait, 0); err == nil {
		v.open = append(v.open, file)
		shared := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
		if _, err := os.Stat(shared); err == nil {
			target = shared
		}
	}
	return os.Symlink(target, filepath.Join(v.Dir, filepath.Base(path)))
}

// Close removes the view.
func (v *View) Close() {
	for _, file := range v.open {
		file.Close()
	}
	os.RemoveAll(v.Dir) // nothing can be done about an error
}

// readFile reads a file that is no table. To open a pipe would wait for a writer.
func readFile(path string) ([]byte, error) {
	const most = 1 << 30
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", path, most)
	}
	return os.ReadFile(path)
}

// marked returns the value of a marker of Pebble, an empty file marker.KIND.NUMBER.VALUE, "" for
// other files.
func marked(name, kind string) string {
	numbered, isMarker := strings.CutPrefix(name, "marker."+kind+".")
	if !isMarker {
		return ""
	}
	_, value, _ := strings.Cut(numbered, ".")
	return value
}

// Number returns the number of a table's file, -1 for other files.
func Number(path string) int {
	name, ext := filepath.Base(path), filepath.Ext(path)
	number, err := strconv.ParseUint(strings.TrimSuffix(name, ext), 10, strconv.IntSize-1)
	if err != nil || ext != ".sst" && ext != ".ldb" {
		return -1
	}
	return int(number)
}

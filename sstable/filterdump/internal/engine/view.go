package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A View is what an engine opens instead of a database's directory: a copy of the manifest in
// memory, and the tables, which the view holds open. So the engine takes no lock, replays no log,
// changes nothing and leaves nothing behind, and whoever opens the view again sees the same
// database.
type View struct {
	Settings
	Manifest []byte
	Tables   map[int]string // the tables in the database's directory: file names by number

	dir      string
	manifest string            // its file name
	markers  []string          // of Pebble, which name the manifest and the version of its format
	paths    map[string]string // of tables and of Pebble's large values, by file name
	held     []*os.File        // see hold
}

var (
	// ErrNoDatabase is wrapped by the error for a directory that is no database's, or not one
	// that is read here.
	ErrNoDatabase = errors.New("no database")
	// ErrDamaged is wrapped by the error for a database that no engine opens.
	ErrDamaged = errors.New("damaged")
)

// NewView returns a view of the database in dir. Whoever calls it closes the view.
func NewView(dir string) (*View, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	v := &View{dir: dir, Tables: map[int]string{}, paths: map[string]string{}}
	if v.manifest, err = manifestOf(dir, entries); err != nil {
		return nil, err
	}
	if v.Manifest, err = readFile(filepath.Join(dir, v.manifest), 1<<30); err != nil {
		return nil, err
	}
	if entries, err = os.ReadDir(dir); err != nil { // with the tables that the manifest may name
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "marker.") {
			v.markers = append(v.markers, e.Name())
		}
	}
	v.Settings = settingsOf(dir, entries)
	v.holdTables(entries) // after the manifest, so that few are deleted in between
	return v, nil
}

// IsDatabase reports whether a directory has a database that is read here.
func IsDatabase(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err == nil {
		_, err = manifestOf(dir, entries)
	}
	return err == nil
}

var (
	currentName  = regexp.MustCompile(`^CURRENT(\.bak|\.\d+)?$`) // goleveldb renames in two steps
	manifestName = regexp.MustCompile(`^MANIFEST-\d+$`)
	bashoLevel   = regexp.MustCompile(`^sst_\d$`)
)

// manifestOf returns the file name of the manifest. Pebble's marker names it, or CURRENT. Of
// several, as goleveldb leaves them if it is killed, the one counts that names the newest manifest
// that is there.
func manifestOf(dir string, entries []fs.DirEntry) (name string, err error) {
	for _, e := range entries { // sorted: of the first million, the last marker is the newest
		if bashoLevel.MatchString(e.Name()) && e.IsDir() {
			return "", fmt.Errorf("%w that is read here, but one of Basho's LevelDB, with tables "+
				"in %s: pass them one by one", ErrNoDatabase, e.Name())
		}
		if marked := marked(e.Name(), "manifest"); marked != "" {
			name = marked
		}
	}
	if name != "" {
		return name, checkManifestName(dir, name, "marker.manifest")
	}
	err = fmt.Errorf("%w: there is no CURRENT", ErrNoDatabase)
	for _, e := range entries {
		if !currentName.MatchString(e.Name()) {
			continue
		}
		text, why := readFile(filepath.Join(dir, e.Name()), 1<<20)
		named, whole := bytes.CutSuffix(text, []byte("\n"))
		if why == nil && !whole {
			why = fmt.Errorf("%w: %s does not end in a line break", ErrDamaged, e.Name())
		}
		if why == nil {
			why = checkManifestName(dir, string(named), e.Name())
		}
		switch {
		case why == nil:
			name = newest(name, string(named))
		case e.Name() == "CURRENT" || errors.Is(err, ErrNoDatabase):
			err = why
		}
	}
	if name != "" {
		err = nil
	}
	return name, err
}

// newest returns the name with the higher number.
func newest(a, b string) string {
	if len(a) > len(b) || len(a) == len(b) && a > b {
		return a
	}
	return b
}

// checkManifestName returns an error unless what source says names a manifest that is there.
func checkManifestName(dir, name, source string) error {
	if !manifestName.MatchString(name) {
		return fmt.Errorf("%w: %s names no manifest, but %.40q", ErrDamaged, source, name)
	}
	_, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s names %s: %w", ErrDamaged, source, name, fs.ErrNotExist)
	}
	return err
}

// holdTables opens the tables, and Pebble's files of large values: those that the engine looks for.
func (v *View) holdTables(entries []fs.DirEntry) {
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		switch number := Number(e.Name()); {
		case number < 0 && ext != ".blob", ext == ".ldb" && v.Engine != "goleveldb":
			continue
		case number >= 0 && v.Tables[number] != "": // .ldb comes before .sst, also in goleveldb
			continue
		case number >= 0:
			v.Tables[number] = e.Name()
		}
		v.paths[e.Name()] = v.hold(filepath.Join(v.dir, e.Name()))
	}
}

// Path returns the path of a table or of another file by which the view opens it. The error is one
// of the file.
func (v *View) Path(name string) (string, error) {
	path, ok := v.paths[filepath.Base(name)]
	if !ok {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return path, err
}

var errNotRegular = errors.New("not a regular file")

// IsShared reports whether tables may be in a storage that several databases of Pebble share. They
// are not read here.
func (v *View) IsShared() bool {
	return slices.ContainsFunc(v.markers, func(name string) bool {
		return marked(name, "remote-obj-catalog") != ""
	})
}

// openTables returns how many tables an engine may keep open: all, if the system lets it.
func (v *View) openTables() int {
	const others = 32 // files
	left := max(mostFiles(), uint64(len(v.held)+2*others)) - uint64(len(v.held)+others)
	return int(min(left, math.MaxInt32))
}

// Close closes the tables.
func (v *View) Close() {
	for _, file := range v.held {
		file.Close()
	}
}

// readFile reads a file that is no table, of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // to open a pipe would wait for a writer
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrDamaged, filepath.Base(path))
	case info.Size() > most:
		return nil, fmt.Errorf("%s has more than %d bytes", filepath.Base(path), most)
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

// Number returns the number of a table's file, -1 for other files: also for names that engines do
// not give to tables, and so do not look for, such as 5.ldb.
func Number(path string) int {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ext)
	number, err := strconv.ParseUint(stem, 10, strconv.IntSize-1)
	if err != nil || ext != ".sst" && ext != ".ldb" || fmt.Sprintf("%06d", number) != stem {
		return -1
	}
	return int(number)
}

package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// A View is what an engine opens instead of a database's directory: a copy of the manifest in
// memory, and the tables, which the view holds open as far as the system allows. So the engine takes no lock, replays no log,
// changes nothing and leaves nothing behind, and whoever opens the view again sees the same
// database.
type View struct {
	Settings
	Manifest []byte
	Tables   map[int]string    // the tables in the database's directory: file names by number
	Paths    map[string]string // by which they are opened, and Pebble's large values, by file name

	dir      string
	manifest string     // its file name
	markers  []string   // of Pebble, which name the manifest and the version of its format
	held     []*os.File // see hold
	byName   bool       // not all tables are held
}

var (
	// ErrNoDatabase is wrapped by the error for a directory that is no database's, or not one
	// that is read here.
	ErrNoDatabase = errors.New("no database")
	// ErrDamaged is wrapped by the error for a database that no engine opens.
	ErrDamaged = errors.New("damaged")
)

// attempts is how often NewView reads a manifest that changes, or that its database replaces.
const attempts = 20

// NewView returns a view of the database in dir. Whoever calls it closes the view.
//
// A database in use deletes tables once its manifest no longer names them. So the view has all if
// the manifest is the same before and after it takes them. If not, it takes those that have come.
func NewView(dir string) (v *View, err error) {
	v = &View{dir: dir, Tables: map[int]string{}, Paths: map[string]string{}}
	for range attempts {
		before := v.Manifest
		if v.manifest, err = ManifestOf(dir); err == nil {
			v.Manifest, err = readFile(filepath.Join(dir, v.manifest))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was replaced, or is gone
		}
		if err != nil || before != nil && bytes.Equal(before, v.Manifest) {
			break
		}
		if err = v.takeTables(); err != nil {
			break
		}
	}
	if err != nil {
		v.Close()
	}
	return v, err
}

// Close closes the tables.
func (v *View) Close() {
	for _, file := range v.held {
		file.Close()
	}
}

// Outdated reports whether the database may have deleted tables that the view names and does not
// hold: its manifest has changed.
func (v *View) Outdated() bool {
	if !v.byName {
		return false
	}
	name, err := ManifestOf(v.dir)
	var manifest []byte
	if err == nil {
		manifest, err = readFile(filepath.Join(v.dir, name))
	}
	return err != nil || !bytes.Equal(manifest, v.Manifest)
}

var (
	currentName  = regexp.MustCompile(`^CURRENT(\.bak|\.\d+)?$`) // goleveldb renames in two steps
	manifestName = regexp.MustCompile(`^MANIFEST-\d+$`)
	bashoLevel   = regexp.MustCompile(`^sst_\d$`)
)

// ManifestOf returns the file name of the manifest, which Pebble's marker names, or CURRENT. Of
// several files CURRENT, as goleveldb leaves them if it is killed, the one counts that names the
// newest manifest that is there.
func ManifestOf(dir string) (name string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	marker, failed := "", error(nil)
	for _, e := range entries { // sorted: of the first million, the last marker is the newest
		switch {
		case bashoLevel.MatchString(e.Name()) && e.IsDir():
			return "", fmt.Errorf("%w that is read here, but one of Basho's LevelDB, with tables "+
				"in %s: pass them one by one", ErrNoDatabase, e.Name())
		case marked(e.Name(), "manifest") != "":
			marker = e.Name()
		case currentName.MatchString(e.Name()):
			named, err := namedBy(dir, e.Name())
			if len(named) > len(name) || len(named) == len(name) && named > name {
				name = named
			}
			failed = cmp.Or(failed, err)
		}
	}
	switch {
	case marker != "":
		return checked(dir, marked(marker, "manifest"), marker)
	case name != "":
		return name, nil
	}
	return "", cmp.Or(failed, fmt.Errorf("%w: there is no CURRENT", ErrNoDatabase))
}

// namedBy returns the name of the manifest that a file CURRENT names, and checks it.
func namedBy(dir, current string) (string, error) {
	text, err := readFile(filepath.Join(dir, current))
	if err != nil {
		return "", err
	}
	name, whole := strings.CutSuffix(string(text), "\n")
	if !whole {
		return "", fmt.Errorf("%w: %s does not end in a line break", ErrDamaged, current)
	}
	return checked(dir, name, current)
}

// checked returns a name, or an error unless it is that of a manifest that is there.
func checked(dir, name, source string) (string, error) {
	if !manifestName.MatchString(name) {
		return "", fmt.Errorf("%w: %s names no manifest, but %.40q", ErrDamaged, source, name)
	}
	_, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s names %s: %w", ErrDamaged, source, name, fs.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// takeTables takes the tables, and Pebble's files of large values: those that the engine looks for.
// What it has taken before, it keeps.
func (v *View) takeTables() error {
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	v.markers, v.Settings = nil, settingsOf(v.dir, entries)
	for _, e := range entries {
		name, ext, number := e.Name(), filepath.Ext(e.Name()), Number(e.Name())
		isTable := number >= 0 && (ext == ".sst" || v.Engine == "goleveldb")
		if isTable && v.Tables[number] == "" { // .ldb comes before .sst, also in goleveldb
			v.Tables[number] = name
		}
		if v.Paths[name] == "" && (isTable && v.Tables[number] == name || ext == ".blob") {
			v.hold(name)
		}
		if strings.HasPrefix(name, "marker.") {
			v.markers = append(v.markers, name)
		}
		if marked(name, "remote-obj-catalog") != "" {
			return fmt.Errorf("%w that is read here: it has tables in shared storage", ErrNoDatabase)
		}
	}
	return nil
}

// hold keeps a file open, and notes a path by which it is opened again, also after the database has
// deleted it. Where there is no /dev/fd, or if too many are held, it notes the file's own.
func (v *View) hold(name string) {
	path := filepath.Join(v.dir, name)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		return
	}
	v.Paths[name] = path
	if len(v.held) >= mostTables() {
		v.byName = true
		return
	}
	file, err := os.Open(path)
	if err != nil { // whoever opens it says why
		return
	}
	v.held = append(v.held, file)
	again := fmt.Sprintf("/dev/fd/%d", file.Fd())
	if _, err := os.Stat(again); err != nil {
		v.byName = true
		return
	}
	v.Paths[name] = again
}

// mostTables returns how many tables a view holds at most, and how many an engine may have open
// then: half of what the system allows, but for some files of others.
func mostTables() int {
	const others, most = 32, 1 << 20
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return others
	}
	return max(1, int(min(uint64(limit.Cur)/2, most))-others)
}

// readFile reads a file that is no table.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		err = fmt.Errorf("%w: %s is not a regular file", ErrDamaged, filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// marked returns the value of a marker of Pebble, an empty file marker.KIND.NUMBER.VALUE, "" for
// other files.
func marked(name, kind string) string {
	if parts := strings.SplitN(name, ".", 4); len(parts) == 4 && parts[0] == "marker" && parts[1] == kind {
		return parts[3]
	}
	return ""
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

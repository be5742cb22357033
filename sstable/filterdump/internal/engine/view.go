package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// A View is what an engine opens instead of a database's directory: a copy of the manifest in
// memory, and the tables, which the view holds open as far as the system allows. So the engine
// takes no lock, replays no log, changes nothing and leaves nothing behind, and whoever opens the
// view again sees the same database.
type View struct {
	Settings
	Manifest  []byte
	Tables    map[int]string    // the tables in the database's directory: file names by number
	Paths     map[string]string // by which they are opened, and Pebble's large values, by file name
	OldestLog int               // its number, 0 if there is none

	dir      string
	manifest string            // its file name
	memory   map[string][]byte // what Pebble finds by name, without what is in tables
	held     []*os.File        // see hold
}

// ErrDamaged is wrapped by the error for a database that no engine opens.
var ErrDamaged = errors.New("damaged")

// NewView returns a view of the database in dir. Whoever calls it closes the view.
func NewView(dir string) (v *View, err error) {
	v = &View{dir: dir, Tables: map[int]string{}, Paths: map[string]string{}}
	if v.manifest, v.Manifest, err = readManifest(dir); err != nil {
		return nil, err
	}
	v.memory = map[string][]byte{v.manifest: v.Manifest}
	if err = v.takeTables(); err != nil { // after the manifest, so that few are deleted in between
		v.Close()
	}
	return v, err
}

// readManifest returns the name of the manifest, and what is in it.
func readManifest(dir string) (name string, manifest []byte, err error) {
	if name, err = manifestOf(dir); err == nil {
		manifest, err = readFile(filepath.Join(dir, name), maxManifest)
	}
	return name, manifest, err
}

// Outdated reports whether the manifest has changed. Then the database may have deleted tables that
// the view names and does not hold.
func (v *View) Outdated() bool {
	_, manifest, err := readManifest(v.dir)
	return err != nil || !bytes.Equal(manifest, v.Manifest)
}

// Close closes the tables.
func (v *View) Close() {
	for _, file := range v.held {
		file.Close()
	}
}

var (
	currentName  = regexp.MustCompile(`^CURRENT(\.bak|\.\d+)?$`) // goleveldb renames in two steps
	manifestName = regexp.MustCompile(`^MANIFEST-\d+$`)
	bashoLevel   = regexp.MustCompile(`^sst_\d$`)
)

// manifestOf returns the file name of the manifest, which Pebble's marker names, or CURRENT. Of
// several files CURRENT, as goleveldb leaves them if it is killed, the one counts that names the
// newest manifest that is there. Among files of another kind, one of that name makes no database.
func manifestOf(dir string) (name string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	marker, table, hasManifest, failed := "", "", false, error(nil)
	for _, e := range entries { // sorted: of the first million, the last marker is the newest
		switch {
		case bashoLevel.MatchString(e.Name()) && e.IsDir():
			return "", fmt.Errorf("a database of Basho's LevelDB is not read here: pass the tables in "+
				"%s one by one", e.Name())
		case marked(e.Name(), "manifest") != "":
			marker = e.Name()
		case manifestName.MatchString(e.Name()):
			hasManifest = true
		case Number(e.Name()) >= 0:
			table = e.Name()
		case currentName.MatchString(e.Name()):
			named, err := namedBy(dir, e.Name())
			if err != nil {
				failed = cmp.Or(failed, err)
			} else if len(named) > len(name) || len(named) == len(name) && named > name {
				name = named
			}
		}
	}
	switch {
	case marker != "":
		return namedBy(dir, marker)
	case name != "":
		return name, nil
	case failed == nil && hasManifest && table != "":
		return "", fmt.Errorf("%w: there is no CURRENT: its tables can be verified one by one, "+
			"filterdump --verify DIRECTORY/*%s", ErrDamaged, filepath.Ext(table))
	case failed == nil:
		return "", errors.New("no database: there is no CURRENT")
	case table == "" && !hasManifest && !errors.Is(failed, fs.ErrNotExist):
		return "", errors.New("no database: there are no tables, and CURRENT names no manifest")
	}
	return "", failed
}

// namedBy returns the name of the manifest that a marker names, or a file CURRENT, and checks it.
func namedBy(dir, source string) (string, error) {
	name := marked(source, "manifest")
	if name == "" {
		text, err := readFile(filepath.Join(dir, source), 64<<10)
		if err != nil {
			return "", err
		}
		var whole bool
		if name, whole = strings.CutSuffix(string(text), "\n"); !whole {
			return "", fmt.Errorf("%w: %s does not end in a line break", ErrDamaged, source)
		}
		var number int // read as goleveldb does: spaces may follow, and zeros may be left out
		if n, _ := fmt.Sscanf(name, "MANIFEST-%d%s", &number, new(string)); n == 1 {
			name = fmt.Sprintf("MANIFEST-%06d", number)
		}
	}
	if !manifestName.MatchString(name) {
		return "", fmt.Errorf("%w: %s names no manifest, but %.40q", ErrDamaged, source, name)
	}
	_, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s names %s: %w", ErrDamaged, source, name, fs.ErrNotExist)
	}
	return name, err
}

// takeTables takes the tables, and Pebble's files of large values: those that the engine looks for.
func (v *View) takeTables() error {
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	if err := v.readSettings(entries); err != nil {
		return err
	}
	for _, e := range entries {
		name, ext, number := e.Name(), filepath.Ext(e.Name()), Number(e.Name())
		isTable := number >= 0 && (ext == ".sst" || v.Engine == "goleveldb")
		if isTable && v.Tables[number] == "" { // .ldb comes before .sst, also in goleveldb
			v.Tables[number] = name
		}
		if isTable && v.Tables[number] == name || ext == ".blob" {
			v.hold(name)
		}
		if strings.HasPrefix(name, "marker.") {
			v.memory[name] = nil
		}
		if name == "CURRENT" { // which Pebble reads if no marker tells a newer format
			v.memory[name], _ = readFile(filepath.Join(v.dir, name), 64<<10)
		}
		if stem, _, _ := strings.Cut(name, "-"); ext == ".log" && v.OldestLog == 0 { // sorted
			v.OldestLog, _ = strconv.Atoi(strings.TrimSuffix(stem, ".log"))
		}
		if marked(name, "remote-obj-catalog") != "" {
			return errors.New("tables in shared storage are not read here")
		}
	}
	return nil
}

// hold keeps a file open, and notes a path by which it is opened again, also after the database has
// deleted it. Where there is no /dev/fd, or if too many are held, it notes the file's own.
func (v *View) hold(name string) {
	path := filepath.Join(v.dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return // to open a pipe would wait for a writer
	}
	v.Paths[name], v.memory[name] = path, nil
	if len(v.held) >= MostTables()/2 {
		return
	}
	file, err := os.Open(path)
	if err != nil { // whoever opens it says why
		return
	}
	v.held = append(v.held, file)
	again := fmt.Sprintf("/dev/fd/%d", file.Fd())
	if _, err := os.Stat(again); err == nil {
		v.Paths[name] = again
	}
}

// MostTables returns how many tables an engine may have open, two thirds of what the system allows,
// but for some files of others. A view holds half as many.
func MostTables() int {
	const others, most = 32, 1 << 20
	return max(2, int(2*min(filesAllowed(), most)/3)-others)
}

// maxManifest is the size of the largest manifest that is read: the engines keep copies of it.
const maxManifest = 256 << 20

// readFile reads a file that is no table, unless it has more than so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	// To open a pipe would wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrDamaged, filepath.Base(path))
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d bytes: at most %d are read", filepath.Base(path),
			info.Size(), most)
	}
	contents := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = contents.ReadFrom(io.LimitReader(file, most)) // it may grow meanwhile
	return contents.Bytes(), err
}

// marked returns the value of a marker of Pebble, an empty file marker.KIND.NUMBER.VALUE, "" for
// other files.
func marked(name, kind string) string {
	if numbered, isMarker := strings.CutPrefix(name, "marker."+kind+"."); isMarker {
		_, value, _ := strings.Cut(numbered, ".")
		return value
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

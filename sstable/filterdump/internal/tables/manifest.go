package tables

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
)

// A Structure is what a database's manifest says.
type Structure struct {
	Comparer string   // its name
	Tables   []Placed // those with point keys
	// Unnamed are the tables in the directory that the manifest does not name: left over after a
	// process was killed, no longer needed, or not finished yet.
	Unnamed []string
}

// A Placed is a table in its level. Pebble's virtual tables are parts of a file: then several have
// one Path.
type Placed struct {
	Path              string
	Level             int
	Smallest, Largest []byte // user keys: all keys lie between them, both included

	number uint64 // of the table
	file   uint64 // of its file, if that has another number
	points bool   // it has point keys, not range keys alone
}

// ReadStructure reads the manifest of a database, which may be in use. The error wraps
// fs.ErrNotExist if the directory has none.
//
// An engine would take the lock, insist on its comparer and its version, and replay the log.
func ReadStructure(dir string) (*Structure, error) {
	type place struct {
		level  int
		number uint64
	}
	s, placed := &Structure{}, map[place]Placed{}
	err := eachEdit(dir, func(e *edit) {
		if e.comparer != "" {
			s.Comparer = e.comparer
		}
		for _, t := range e.deleted { // first: an edit that moves a table deletes and adds it
			delete(placed, place{t.Level, t.number})
		}
		for _, t := range e.added {
			placed[place{t.Level, t.number}] = t
		}
	})
	if err == nil && s.Comparer == "" { // the first edit names it
		err = errors.New("the manifest has no edits")
	}
	if err != nil {
		return nil, err
	}
	// The directory is listed after the manifest was read: so it has the files of the tables, unless
	// the database has deleted some since.
	files, _ := Find(dir)
	byNumber := map[uint64]string{}
	for _, path := range files {
		digits, _, _ := strings.Cut(filepath.Base(path), ".")
		if number, err := strconv.ParseUint(digits, 10, 64); err == nil {
			byNumber[number] = path
		}
	}
	named := map[string]bool{}
	for t := range maps.Values(placed) {
		file := cmp.Or(t.file, t.number)
		t.Path = cmp.Or(byNumber[file], filepath.Join(dir, fmt.Sprintf("%06d.sst", file)))
		named[t.Path] = true
		if t.points {
			s.Tables = append(s.Tables, t)
		}
	}
	slices.SortFunc(s.Tables, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.number, b.number))
	})
	for _, path := range files {
		if !named[path] {
			s.Unnamed = append(s.Unnamed, path)
		}
	}
	return s, nil
}

// Of returns the structure of the database in a directory, and the paths of the tables that it
// names, sorted. Without a manifest that can be read, the structure is nil and the paths are those
// of all tables. A directory without tables is an error.
func Of(dir string) (*Structure, []string, error) {
	s, err := ReadStructure(dir)
	if err != nil {
		paths, err := Find(dir)
		return nil, paths, err
	}
	if len(s.Tables) == 0 {
		if _, err := Find(dir); err != nil {
			return nil, nil, err
		}
	}
	return s, s.Paths(), nil
}

// Paths returns the files of the tables, sorted.
func (s *Structure) Paths() (paths []string) {
	for _, t := range s.Tables {
		paths = append(paths, t.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// bytewise is the name of LevelDB's and Pebble's default comparer, under which filters know whole
// keys.
const bytewise = "leveldb.BytewiseComparator"

// isBytewise reports whether the database in a directory has the default comparer.
func isBytewise(dir string) bool {
	s, err := ReadStructure(dir)
	return err == nil && s.Comparer == bytewise
}

// eachEdit calls f for each edit in the manifest of a database. An incomplete last edit, of a
// database in use or after a kill, does not count.
func eachEdit(dir string, f func(*edit)) error {
	name, err := manifestName(dir)
	if err != nil {
		return err
	}
	file, _, err := openFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	records := record.NewReader(file, 0) // Pebble's reads LevelDB's too
	for {
		r, err := records.Next()
		var contents []byte
		if err == nil {
			contents, err = io.ReadAll(r)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrUnexpectedEOF) ||
			errors.Is(err, record.ErrZeroedChunk) {
			return nil
		}
		e := &edit{rest: contents}
		if err == nil {
			err = e.decode()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f(e)
	}
}

// manifestName returns the name of the manifest: Pebble's marker with the highest number names it,
// marker.manifest.NUMBER.NAME, or else the file CURRENT.
func manifestName(dir string) (string, error) {
	var name string
	entries, err := os.ReadDir(dir) // sorted
	for _, e := range entries {
		if marked, ok := strings.CutPrefix(e.Name(), "marker.manifest."); ok {
			_, name, _ = strings.Cut(marked, ".")
		}
	}
	if err == nil && name == "" {
		const enough = 1 << 10
		var current []byte
		current, err = ReadStart(filepath.Join(dir, "CURRENT"), enough)
		name = strings.TrimSuffix(string(current), "\n")
	}
	if err == nil && (filepath.Base(name) != name || !strings.HasPrefix(name, "MANIFEST-")) {
		err = fmt.Errorf("CURRENT names %.100q, which is not a manifest", name)
	}
	return name, err
}

// An edit is a record of a manifest: tags, each followed by its fields. LevelDB's tags are in its
// db/version_edit.cc, and Pebble's are in its internal/manifest/version_edit.go.
type edit struct {
	comparer       string
	added, deleted []Placed

	rest []byte // what is not decoded yet
	bad  bool
}

func (e *edit) decode() error {
	for len(e.rest) > 0 && !e.bad {
		switch tag := e.number(); tag {
		case 1:
			e.comparer = string(e.field())
		case 2, 3, 4, 9, 106: // of logs, files, the sequence; a file of virtual tables is gone
			e.numbers(1)
		case 5: // where a level's compaction goes on
			e.numbers(1)
			e.field()
		case 105, 108: // a file of virtual tables; a file of values is gone
			e.numbers(2)
		case 107: // a file of values
			e.numbers(5)
		case 6:
			e.deleted = append(e.deleted, Placed{Level: int(e.number()), number: e.number()})
		case 7, 100, 102, 103, 104:
			if err := e.table(tag); err != nil {
				return err
			}
		default:
			return fmt.Errorf("an edit with the tag %d, which is not known here", tag)
		}
	}
	if e.bad {
		return errors.New("an edit that ends too early")
	}
	return nil
}

// table decodes a new table.
func (e *edit) table(tag uint64) error {
	t := Placed{Level: int(e.number()), number: e.number()}
	if tag == 102 {
		e.numbers(1) // a path
	}
	e.numbers(1) // the size
	const hasPoints = 1
	t.points = true
	if tag == 104 {
		marker := e.take(1)
		t.points = !e.bad && marker[0]&hasPoints != 0
	}
	if t.points {
		t.Smallest, t.Largest = e.userKey(), e.userKey()
	}
	if tag == 104 { // the bounds of the range keys
		e.field()
		e.field()
	}
	if tag != 7 {
		e.numbers(2) // sequence numbers
	}
	if tag >= 103 {
		if err := e.custom(&t); err != nil {
			return err
		}
	}
	if !e.bad {
		e.added = append(e.added, t)
	}
	return nil
}

// custom decodes the fields that Pebble adds to a table.
func (e *edit) custom(t *Placed) error {
	for !e.bad {
		switch tag := e.number(); {
		case tag == 1:
			return nil
		case tag == 66:
			t.file = e.number()
		case tag == 69: // references to files of values
			e.numbers(1)
			for n := e.number(); n > 0 && !e.bad; n-- {
				e.numbers(2)
			}
		case tag == 67, tag == 68:
			return errors.New("tables whose keys have other prefixes or suffixes than their files, " +
				"which filterdump does not support")
		case tag&64 != 0: // such a field must not be left out
			return fmt.Errorf("a table with the tag %d, which is not known here", tag)
		default:
			e.field()
		}
	}
	return nil
}

func (e *edit) number() uint64 {
	n, size := binary.Uvarint(e.rest)
	e.take(size)
	e.bad = e.bad || size <= 0
	return n
}

func (e *edit) numbers(n int) {
	for range n {
		e.number()
	}
}

// field decodes bytes with their length before them.
func (e *edit) field() []byte {
	n := e.number()
	if n > uint64(len(e.rest)) {
		e.bad = true
		return nil
	}
	return e.take(int(n))
}

// userKey decodes an internal key, and leaves out its trailer.
func (e *edit) userKey() []byte {
	const trailer = 8
	key := e.field()
	if len(key) < trailer {
		e.bad = true
		return nil
	}
	return slices.Clip(key[:len(key)-trailer])
}

// take takes bytes from the rest.
func (e *edit) take(n int) []byte {
	if n < 0 || n > len(e.rest) {
		e.bad = true
		return nil
	}
	b := e.rest[:n]
	e.rest = e.rest[n:]
	return b
}

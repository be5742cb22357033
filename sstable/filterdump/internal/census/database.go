// Package census reads a database, and counts what lookups of absent keys read in it.
//
// Read verifies the tables that the manifest names (database.go). If all can be trusted, the engine
// looks absent keys up (count.go), which lie between keys of the database (absent.go).
package census

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verify"
)

// Options say what to read.
type Options struct {
	Policies []string // names of policies whose filters are LevelDB's or levelbloom's
	Verify   bool     // count nothing
	Progress func(format string, args ...any)
}

// A Database is what was read at a path: the tables of a database's directory, or one table.
type Database struct {
	Path string `json:"path"`

	// Note says why not all could be read. Damaged says that the database is at fault.
	Note    string `json:"note,omitempty"`
	Damaged bool   `json:"damaged,omitempty"`

	// Unnamed is how many tables in the directory are no part of the database. They are ignored: a
	// killed process left them, or the database is still writing or deleting them.
	Unnamed int `json:"unnamed,omitempty"`

	*verdict.Figures                  // nil if no database was opened
	Verdict          *verdict.Verdict `json:"verdict,omitempty"` // nil if counting failed
	Tables           []*verify.Result `json:"tables"`

	options Options
	named   map[int]engine.Place // what the manifest says of each table, by number
	newer   int                  // tables that are ignored, and newer than all that are not
	logged  bool                 // the log of one of these is gone
}

// attempts is how often Read begins.
const attempts = 10

// Read reads and verifies the tables at a path. In a database, it counts what lookups read, unless
// options say not to.
//
// A database in use may delete tables before the view has them, or those that are too many to be
// held, or the manifest. Then Read begins anew.
func Read(path string, o Options) *Database {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		f := verify.File{Path: path, Open: path, Policies: o.Policies}
		return &Database{Path: path, Tables: verify.Verify([]verify.File{f}, func(int) {})}
	}
	var d *Database
	for range attempts {
		d = &Database{Path: path, options: o}
		view, err := engine.NewView(path)
		if err != nil {
			d.Note, d.Damaged = verify.WithoutPath(err, path), errors.Is(err, engine.ErrDamaged)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return d
		}
		d.read(view)
		outdated := view.Outdated()
		view.Close()
		if !d.lacksTables() || !outdated {
			if d.mayBeOld() && !outdated {
				d.Note = fmt.Sprintf("its manifest may be old, or cut off: tables newer than the %d that "+
					"it names: %d", len(d.named), d.newer)
			}
			return d
		}
		d = &Database{Path: path, Note: "its tables are deleted while they are read: if it has more " +
			"than the process may have open, raise that limit (ulimit -n)"}
	}
	return d
}

var noFile = regexp.MustCompile(`file does not exist|no such file`)

// lacksTables reports whether a table was not there.
func (d *Database) lacksTables() bool {
	return noFile.MatchString(d.Note) || slices.ContainsFunc(d.Tables, func(r *verify.Result) bool {
		return r.Status == verify.Missing
	})
}

// read reads the database of a view.
func (d *Database) read(view *engine.View) {
	if err := engine.CheckManifest(view.Manifest); err != nil {
		d.Note, d.Damaged = err.Error(), true
		return
	}
	o := engine.Options{View: view}
	err := open(o, func(int) {}, func(db engine.DB) (err error) {
		d.named, err = db.Tables()
		return err
	})
	if err != nil {
		d.Note = fmt.Sprintf("%s does not open it: %v", cmp.Or(view.Engine, "filterdump"), err)
		if its := ownComparer.FindStringSubmatch(d.Note); its != nil { // "corrupted", says goleveldb
			d.Note = fmt.Sprintf("its comparer is '%s', which is not known here", its[1]+its[2])
			if view.Engine == "goleveldb" {
				d.Note += ": pass its tables one by one, filterdump --verify DIRECTORY/*.ldb"
			} else {
				d.Note += fmt.Sprintf(": print the report of %s.Check in the program", view.Engine)
			}
		}
		d.Damaged = faultyTable.MatchString(d.Note)
		return
	}
	d.Figures = &verdict.Figures{Engine: view.Engine, Configured: view.Policies,
		Cache: max(0, view.Cache-view.MemTables*view.MemTable)}
	d.verify(view)
	if d.options.Verify {
		return
	}
	if why := d.unfit(); why != "" {
		d.Verdict = verdict.None(why)
		return
	}
	d.count(o)
}

// Pebble looks for the tables that its manifest names, and compares their sizes.
var faultyTable = regexp.MustCompile(`file does not exist|object size mismatch`)

// A comparer of the program's own is no damage. The engines say so in words of their own.
var ownComparer = regexp.MustCompile(`\(field 'comparer'\): mismatch: .* got '([^']*)'` +
	`|comparer name from file "([^"]*)" != `)

// open opens a database in its engine, and closes it after f. If the engine panics, the database
// stays open: to close it could wait for a lock that the engine holds.
func open(o engine.Options, read func(number int), f func(db engine.DB) error) error {
	return verify.Guard(func() error {
		db, err := engine.Open(o, read)
		if err != nil {
			return err
		}
		return cmp.Or(f(db), db.Close())
	})
}

// verify verifies the tables that the manifest names.
func (d *Database) verify(view *engine.View) {
	var files []verify.File
	numbers := slices.Sorted(maps.Keys(d.named))
	for _, number := range numbers {
		// Only goleveldb opens a database whose tables are missing. Whoever reads one finds that.
		name := cmp.Or(view.Tables[number], fmt.Sprintf("%06d.ldb", number))
		files = append(files, verify.File{Path: filepath.Join(d.Path, name), Open: view.Paths[name],
			Database: true, Size: d.named[number].Size, Merger: view.Merger,
			Policies: d.options.Policies})
	}
	d.leaveOut(view)
	d.Tables = verify.Verify(files, func(i int) {
		d.options.Progress("verifying table %d of %d", i+1, len(files))
	})
	for i, number := range numbers {
		d.Add(d.named[number].Level, d.Tables[i])
	}
}

// leaveOut counts the tables in the directory that the manifest does not name.
func (d *Database) leaveOut(view *engine.View) {
	newest := slices.Max(append(slices.Collect(maps.Keys(d.named)), -1))
	for number := range view.Tables {
		if _, isNamed := d.named[number]; !isNamed {
			d.Unnamed++
		}
		if number > newest {
			d.newer++
			d.logged = d.logged || number < view.OldestLog
		}
	}
}

// unfit says why nothing can be counted, if that is so.
func (d *Database) unfit() string {
	unread := 0
	for _, r := range d.Tables {
		if !r.Status.IsFine() {
			unread++
		}
	}
	switch {
	case len(d.named)+d.Unnamed == 0:
		return "there are no tables, and keys that are only in the log do not count"
	case unread > 0:
		return fmt.Sprintf("%d of %d tables faulty or unverified", unread, len(d.Tables))
	case len(d.named) > engine.MostTables():
		return "the process may not have all tables open: raise its limit (ulimit -n)"
	case d.mayBeOld():
		return "the manifest does not name the newest tables"
	}
	return ""
}

// mayBeOld reports whether the manifest lacks tables that it once named, as far as the files tell:
// the log of a table that is newer than all named ones is deleted only when the manifest names it.
// Without logs, such tables must be more than those that are named.
func (d *Database) mayBeOld() bool { return d.logged || d.newer > len(d.named) }

// Package census reads the tables of a database, and counts what lookups of absent keys read in it.
package census

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/verdict"
)

// Options say what to read.
type Options struct {
	Policies []string // patterns of further policies whose filters package policy reads
	Verify   bool     // count nothing
	Progress func(format string, args ...any)
}

// A Database is what was read at a path: the tables of a database's directory, or one table.
type Database struct {
	Path string `json:"path"`

	// Note says why not all could be read. Damaged says that the database is at fault.
	Note    string `json:"note,omitempty"`
	Damaged bool   `json:"damaged,omitempty"`

	// Unnamed is how many tables in the directory are no part of the database. They are left out: a
	// killed process left them, or the database is still writing or deleting them.
	Unnamed int `json:"unnamed,omitempty"`

	*verdict.Figures                  // nil if no database was opened
	Verdict          *verdict.Verdict `json:"verdict,omitempty"` // nil if counting failed
	Tables           []*scan.Result   `json:"tables"`

	options Options
	named   map[int]engine.Place // what the manifest says of each table, by number
	newer   int                  // tables that are left out, and newer than all that are not
}

// attempts is how often Read begins.
const attempts = 10

// Read reads and verifies the tables at a path. In a database, it counts what lookups read, unless
// options say not to. The error is that of ctx.
//
// A database in use may delete a table or the manifest before the view has it, because others have
// its entries. Then the manifest changes, and Read begins anew, a few times.
func Read(ctx context.Context, path string, o Options) (*Database, error) {
	d := &Database{Path: path, options: o}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		d.Note = scan.WithoutPath(err, path)
		return d, nil
	case !info.IsDir():
		f := scan.File{Path: path, Open: path, Options: tables.Options{Policies: o.Policies}}
		d.Tables, err = scan.Verify(ctx, []scan.File{f}, nil)
		return d, err
	}
	var manifest []byte
	for range attempts {
		d = &Database{Path: path, options: o}
		view, err := engine.NewView(path)
		if err != nil {
			d.refuse(err)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			break
		}
		changed := !bytes.Equal(view.Manifest, manifest)
		manifest = view.Manifest
		complete, err := d.read(ctx, view)
		view.Close()
		if err != nil {
			return nil, err
		}
		if complete || !changed {
			break
		}
	}
	return d, nil
}

// refuse notes why a directory has no view: if it is no database, which ones are in it.
func (d *Database) refuse(err error) {
	d.Note = scan.WithoutPath(err, d.Path)
	d.Damaged = errors.Is(err, engine.ErrDamaged)
	if !errors.Is(err, engine.ErrNoDatabase) {
		return
	}
	var names []string
	entries, _ := os.ReadDir(d.Path)
	for _, e := range entries {
		if engine.IsDatabase(filepath.Join(d.Path, e.Name())) {
			names = append(names, e.Name())
		}
	}
	if len(names) > 0 {
		d.Note += "; databases in it: " + strings.Join(names, ", ")
	}
}

// open opens a database in its engine, and closes it after f. If the engine panics, the database
// stays open: to close it could wait for a lock that the engine holds.
func open(o engine.Options, read func(number int), f func(db engine.DB) error) error {
	_, err := tables.Guard(func() (struct{}, error) {
		db, err := engine.Open(o, read)
		if err == nil {
			err = cmp.Or(f(db), db.Close())
		}
		return struct{}{}, err
	})
	return err
}

// read makes an attempt. It is complete unless a table was missing, which may be because the
// database has changed. The error is that of ctx.
func (d *Database) read(ctx context.Context, view *engine.View) (complete bool, err error) {
	d.Figures = &verdict.Figures{Engine: view.Engine, Cache: view.Cache}
	if err := engine.CheckManifest(view.Manifest); err != nil {
		d.Note, d.Damaged = err.Error(), true
		return true, nil
	}
	o := engine.Options{View: view}
	err = open(o, nil, func(db engine.DB) (err error) {
		d.named, err = db.Tables()
		return err
	})
	if err != nil {
		d.explain(err, view.IsShared())
		return false, nil
	}
	if complete, err = d.verify(ctx, view); err != nil {
		return false, err
	}
	d.describe()
	if d.options.Verify {
		return complete, nil
	}
	if why := d.unfit(); why != "" {
		d.Verdict = verdict.None(why)
		return complete, nil
	}
	return complete, d.count(ctx, o)
}

var (
	otherComparer = regexp.MustCompile(`'leveldb\.BytewiseComparator', got '(.*)' \[file=`)
	// Pebble looks for the tables that its manifest names, and compares their sizes.
	faultyTable = regexp.MustCompile(`file does not exist|object size mismatch|not a regular file`)
)

// explain notes why the engine does not open the database. Some of its tables may be in a storage
// that is shared.
func (d *Database) explain(err error, shared bool) {
	d.Note = fmt.Sprintf("%s does not open it: %v", cmp.Or(d.Engine, "filterdump"), err)
	if found := otherComparer.FindStringSubmatch(d.Note); found != nil {
		d.Note = fmt.Sprintf("its comparer is '%s', which is not known here: pass its tables one "+
			"by one, filterdump --verify DIRECTORY/*.ldb", found[1])
	}
	d.Damaged = faultyTable.MatchString(d.Note)
	if d.Damaged && shared {
		d.Damaged, d.Note = false, "tables in shared storage are not read here: "+d.Note
	}
}

// verify verifies the tables that the manifest names. It is complete if all are there.
func (d *Database) verify(ctx context.Context, view *engine.View) (complete bool, err error) {
	var files []scan.File
	for _, number := range slices.Sorted(maps.Keys(d.named)) {
		// Only goleveldb opens a database whose tables are missing. Whoever reads one finds that.
		name := cmp.Or(view.Tables[number], fmt.Sprintf("%06d.ldb", number))
		path, _ := view.Path(name)
		files = append(files, scan.File{Path: filepath.Join(d.Path, name), Open: path,
			Options: tables.Options{Policies: d.options.Policies, Database: true,
				Size: d.named[number].Size}})
	}
	d.leaveOut(view.Tables)
	var done atomic.Int64
	d.Tables, err = scan.Verify(ctx, files, func() {
		d.options.Progress("%d of %d tables verified", done.Add(1), len(files))
	})
	complete = !slices.ContainsFunc(d.Tables, func(r *scan.Result) bool {
		return r != nil && r.Status == scan.Missing
	})
	return complete, err
}

// leaveOut counts the tables in the directory that the manifest does not name.
func (d *Database) leaveOut(tables map[int]string) {
	newest := slices.Max(append(slices.Collect(maps.Keys(d.named)), -1))
	for number := range tables {
		if _, isNamed := d.named[number]; !isNamed {
			d.Unnamed++
		}
		if number > newest {
			d.newer++
		}
	}
}

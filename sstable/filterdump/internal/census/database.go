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
	levels  map[int]int // of each table, by number
}

// Read reads and verifies the tables at a path. In a database, it counts what lookups read, unless
// options say not to. The error is that of ctx.
//
// A database in use may delete a table before it is read, because others have its entries. Then the
// manifest changes, and Read begins anew, a few times.
func Read(ctx context.Context, path string, o Options) (*Database, error) {
	d := &Database{Path: path, options: o}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		d.Note = scan.WithoutPath(err, path)
		return d, nil
	case !info.IsDir():
		d.Tables, err = scan.Verify(ctx, []string{path}, scan.Options{Policies: o.Policies}, nil)
		return d, err
	}
	const attempts = 10
	var manifest []byte
	for range attempts {
		d = &Database{Path: path, options: o}
		view, err := engine.NewView(path)
		if err != nil {
			d.Note = explain(path, err)
			if errors.Is(err, os.ErrNotExist) { // the database may have replaced the manifest
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

// explain says why a directory has no view: if it is no database, which ones are in it.
func explain(dir string, err error) string {
	text := scan.WithoutPath(err, dir)
	if !errors.Is(err, engine.ErrNoDatabase) {
		return text
	}
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if view, err := engine.NewView(filepath.Join(dir, e.Name())); err == nil {
			view.Close()
			names = append(names, e.Name())
		}
	}
	if len(names) > 0 {
		text += "; databases in it: " + strings.Join(names, ", ")
	}
	return text
}

// list returns the level of each table, by number.
func list(o engine.Options) (map[int]int, error) {
	db, err := engine.Open(o, nil)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return db.Levels()
}

// read makes an attempt. It is complete unless something was missing, which may be because the
// database has changed. The error is that of ctx.
func (d *Database) read(ctx context.Context, view *engine.View) (complete bool, err error) {
	d.Figures = &verdict.Figures{Engine: view.Engine, Cache: view.Cache}
	if err := engine.CheckManifest(view.Manifest); err != nil {
		d.Note, d.Damaged = err.Error(), true
		return true, nil
	}
	o := engine.Options{View: view.Dir, Settings: view.Settings}
	if d.levels, err = tables.Guard(func() (map[int]int, error) { return list(o) }); err != nil {
		d.Note = fmt.Sprintf("%s does not open it: %v", cmp.Or(d.Engine, "filterdump"), err)
		d.Damaged = strings.Contains(d.Note, os.ErrNotExist.Error()) // a table, says Pebble
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
	return d.count(ctx, o)
}

// verify verifies the named tables. It is complete if all are there.
func (d *Database) verify(ctx context.Context, view *engine.View) (complete bool, err error) {
	var links []string
	for _, number := range slices.Sorted(maps.Keys(d.levels)) {
		name := cmp.Or(view.Tables[number], fmt.Sprintf("%06d.ldb", number)) // if it is missing
		links = append(links, filepath.Join(view.Dir, name))
		delete(view.Tables, number)
	}
	d.Unnamed = len(view.Tables)
	var done atomic.Int64
	d.Tables, err = scan.Verify(ctx, links,
		scan.Options{Policies: d.options.Policies, Bytewise: true}, func() {
			d.options.Progress("%d of %d tables verified", done.Add(1), len(links))
		})
	if err != nil {
		return false, err
	}
	complete = true
	for _, r := range d.Tables {
		r.Path = filepath.Join(d.Path, filepath.Base(r.Path))
		complete = complete && r.Status != scan.Missing
	}
	return complete, nil
}

// Package census reads a database's tables, and counts what lookups of absent keys meet in them. It
// takes the structure from the manifest and consults the filters that are there. It opens no
// database and runs no engine.
package census

import (
	"context"
	"os"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// A Database is what was read at a path: the tables of a database's directory, or one table.
type Database struct {
	Path string `json:"path"`
	Note string `json:"note,omitempty"` // why nothing could be read

	// Unnamed is how many tables in the directory the manifest does not name. They are left out: a
	// killed process left them, or the database is still writing or deleting them.
	Unnamed int `json:"unnamed,omitempty"`

	// Verdict is what filters are worth to the database, nil if it was not counted.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`

	Tables      []*scan.Result `json:"-"`
	IsDirectory bool           `json:"-"`

	structure *tables.Structure // nil without a manifest that can be read
	sample    *scan.Sample      // of all keys
}

// Read reads and verifies the tables at a path. The error is that of ctx.
func Read(ctx context.Context, r scan.Reader, path string) (*Database, error) {
	d := &Database{Path: path, sample: scan.NewSample(scan.All)}
	paths := []string{path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		d.IsDirectory = true
		d.structure, paths, err = tables.Of(path)
	}
	if err != nil {
		d.Note = scan.WithoutPath(err, path)
		return d, nil
	}
	if d.structure != nil {
		d.Unnamed = len(d.structure.Unnamed)
	}
	return d, d.read(ctx, r, paths)
}

// read reads those tables that have not been read.
func (d *Database) read(ctx context.Context, r scan.Reader, paths []string) error {
	known := map[string]bool{}
	for _, t := range d.Tables {
		known[t.Path] = true
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return known[path] })
	results, err := r.Verify(ctx, paths, d.sample)
	if err == nil {
		d.Tables = append(d.Tables, results...)
	}
	return err
}

// Count counts what lookups of absent keys meet, and sets the verdict. Where nothing can be said,
// the verdict says why. The error is that of ctx.
//
// A database in use may delete a table before it is consulted, because others have its entries.
// Then the manifest names others: these are read, and Count begins anew, a few times.
func (d *Database) Count(ctx context.Context, r scan.Reader) error {
	if d.structure == nil {
		s, err := tables.ReadStructure(d.Path)
		if err != nil {
			d.Verdict = verdict.Of(verdict.Figures{
				Why: "there is no manifest that can be read: " + scan.WithoutPath(err, d.Path)})
			return nil
		}
		d.structure = s
	}
	const attempts = 10
	for range attempts {
		c := &count{Database: d, ctx: ctx, reader: r, unread: map[string]bool{}}
		figures, err := c.figures()
		if err != nil {
			return err
		}
		d.Verdict = verdict.Of(figures)
		if len(c.unread) == 0 {
			break
		}
		s, err := tables.ReadStructure(d.Path)
		if err != nil || slices.Equal(s.Paths(), d.structure.Paths()) {
			break
		}
		d.structure = s
		if err := d.read(ctx, r, s.Paths()); err != nil {
			return err
		}
	}
	return nil
}

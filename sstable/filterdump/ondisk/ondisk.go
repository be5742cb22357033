// Package ondisk is public because bench, which is not below this folder, tells the owners of a
// database what is in its tables. It reads the keys and the filters in tables of LevelDB,
// goleveldb and Pebble. It opens no database, changes no file, and a database may be in
// use. Its functions are safe for concurrent use.
package ondisk

import (
	"context"
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// IsTable reports whether a file is a table by its name or its last bytes.
func IsTable(path string) bool {
	_, err := tables.NeedsPebble(path)
	return err == nil || tables.HasName(path)
}

// Find returns the paths of the tables in a database's directory, sorted. A directory without tables
// is an error.
func Find(dir string) ([]string, error) {
	paths, err := tables.Find(dir)
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return paths, err
}

// Keys calls f for each point entry of a table in file order, with the part of the key that filters
// know. A key with several versions comes several times. The key's memory is reused after f
// returns. An error of f ends the iteration and is returned as it is.
//
// The error wraps [io/fs.ErrNotExist] if the table is gone, as that of a database in use may be.
// Other errors say what is wrong with it, or why nobody can know what its filters know of a key.
func Keys(path string, f func(key []byte) error) error {
	return read(path, func(t tables.Table) error {
		if why := t.Info().Unverified; why != "" {
			return fmt.Errorf("%s: %s", path, why)
		}
		return t.Keys(func(_ int, key []byte) error { return f(key) })
	})
}

// read opens a table for f.
func read(path string, f func(tables.Table) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // Pebble's reader trusts bytes whose checksum is right
			err = fmt.Errorf("%s: Pebble's reader fails on its bytes: %v", path, p)
		}
	}()
	t, err := tables.Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	return f(t)
}

// A Summary describes the filters of some tables.
type Summary struct {
	Tables  int // that could be read
	Without int // of these, those that have keys and no filter
	Unread  int // that are gone, damaged or of an unknown format
	analysis.Totals
}

// Describe reads tables and returns what their filters are and what they do. It measures with
// absent keys between the tables' own, of which it makes up to 65,536 for each table. The error is
// that of ctx.
func Describe(ctx context.Context, paths []string) (s Summary, err error) {
	for _, path := range paths {
		err := read(path, func(t tables.Table) error {
			report, err := analysis.Analyze(ctx, t, false)
			if err != nil {
				return err
			}
			s.Tables++
			if t.Info().Filters == nil && report.Keys > 0 {
				s.Without++
			}
			s.Add(t.Info(), report)
			return nil
		})
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if err != nil {
			s.Unread++
		}
	}
	return s, nil
}

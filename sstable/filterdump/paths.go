package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A place is a PATH of the command line: a database directory with its tables, or a single table.
type place struct {
	path      string
	tables    []file // sorted
	left      int    // tables that -sample left out
	note      string // why there are no tables
	failed    bool   // it could not be looked at
	directory bool
}

// A file is a table to look at.
type file struct {
	path       string
	inDatabase bool // found in a directory that a database has written
}

// findTables looks at the paths. Of each directory with more than sample tables, sample > 0, it
// takes that many, evenly spread over the sorted names.
func findTables(paths []string, sample int) (places []place, files []file) {
	for _, path := range paths {
		p := findPlace(path)
		if n := len(p.tables); p.directory && sample > 0 && n > sample {
			p.left = n - sample
			p.tables = evenly(p.tables, sample)
		}
		places = append(places, p)
		files = append(files, p.tables...)
	}
	return places, files
}

func findPlace(path string) place {
	info, err := os.Stat(path)
	if err != nil {
		return place{path: path, note: withoutPath(err, path), failed: true}
	}
	if !info.IsDir() {
		return place{path: path, tables: []file{{path: path}}}
	}
	found, err := tables.Find(path)
	if err != nil {
		return place{path: path, note: withoutPath(err, path), failed: true}
	}
	p := place{path: path, directory: true}
	for _, table := range found.Tables {
		p.tables = append(p.tables, file{path: table, inDatabase: found.Database})
	}
	if len(p.tables) == 0 {
		note, ok := found.NoTables()
		p.note, p.failed = note, !ok
	}
	return p
}

// withoutPath is the text of an error without the path, which stands before it already.
func withoutPath(err error, path string) string {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == path {
		return p.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}

// evenly returns n of all, spread evenly. REQUIRES: 0 < n <= len(all).
func evenly[T any](all []T, n int) []T {
	chosen := make([]T, n)
	for i := range chosen {
		chosen[i] = all[int((int64(i)*2+1)*int64(len(all))/int64(2*n))]
	}
	return chosen
}

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
	note      string // why there are no tables
	failed    bool   // it could not be looked at
	directory bool
}

// A file is a table to look at.
type file struct {
	path       string
	inDatabase bool // found in a directory that a database has written
}

// findTables looks at the paths.
func findTables(paths []string) (places []place, files []file) {
	for _, path := range paths {
		p := findPlace(path)
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

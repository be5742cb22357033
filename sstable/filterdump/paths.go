package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	entries, err := os.ReadDir(path)
	if err != nil {
		return place{path: path, note: withoutPath(err, path), failed: true}
	}
	p := place{path: path, directory: true}
	var logs []string
	database := false
	for _, e := range entries {
		switch {
		case e.IsDir():
		case isTable(e.Name()):
			p.tables = append(p.tables, file{path: filepath.Join(path, e.Name())})
		case databaseLog.MatchString(e.Name()):
			logs = append(logs, e.Name())
		case strings.HasPrefix(e.Name(), "MANIFEST-"):
			database = true
		}
	}
	for i := range p.tables {
		p.tables[i].inDatabase = database
	}
	if len(p.tables) == 0 {
		p.note, p.failed = noTables(logs), len(logs) == 0
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

// databaseLog is how the engines name their logs.
var databaseLog = regexp.MustCompile(`^[0-9]+\.log$`)

// isTable goes by the names that the engines give to tables.
func isTable(name string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(name)))
}

// noTables says why a directory has none.
func noTables(logs []string) string {
	if len(logs) > 0 {
		return fmt.Sprintf("no tables yet: all its data is in the log (%s), without filters",
			strings.Join(logs, ", "))
	}
	return "no tables (.ldb, .sst) and no log: not a database"
}

// evenly returns n of all, spread evenly. REQUIRES: 0 < n <= len(all).
func evenly[T any](all []T, n int) []T {
	chosen := make([]T, n)
	for i := range chosen {
		chosen[i] = all[int((int64(i)*2+1)*int64(len(all))/int64(2*n))]
	}
	return chosen
}

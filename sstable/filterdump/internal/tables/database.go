package tables

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HasName reports whether a path has the name that the engines give to tables.
func HasName(path string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(path)))
}

// ErrNone says that a directory has no tables.
var ErrNone = errors.New("no tables (.ldb, .sst); the data of a new database is all in its log")

// Find returns the paths of the tables in a database's directory, sorted. A directory without
// tables is an error.
func Find(dir string) (tables []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && HasName(e.Name()) {
			tables = append(tables, filepath.Join(dir, e.Name()))
		}
	}
	if err == nil && len(tables) == 0 {
		err = ErrNone
	}
	return tables, err
}

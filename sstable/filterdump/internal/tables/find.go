package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Directory is what a directory says of the database in it.
type Directory struct {
	Tables   []string // paths, sorted
	Logs     []string // names
	Database bool     // a database has written it
}

// HasName reports whether a path has the name that the engines give to tables.
func HasName(path string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(path)))
}

// Find looks for the files of a database by the names that the engines give them.
func Find(path string) (d Directory, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		switch {
		case e.IsDir():
		case HasName(e.Name()):
			d.Tables = append(d.Tables, filepath.Join(path, e.Name()))
		case databaseLog.MatchString(e.Name()):
			d.Logs = append(d.Logs, e.Name())
		case strings.HasPrefix(e.Name(), "MANIFEST-"):
			d.Database = true
		}
	}
	return d, err
}

// NoTables says why there are no tables. It reports whether the directory is a database's.
func (d Directory) NoTables() (why string, ok bool) {
	if len(d.Logs) == 0 {
		return "no tables (.ldb, .sst) and no log: not a database", false
	}
	return fmt.Sprintf("no tables yet: all its data is in the log (%s), without filters",
		strings.Join(d.Logs, ", ")), true
}

// databaseLog is how the engines name their logs.
var databaseLog = regexp.MustCompile(`^[0-9]+\.log$`)

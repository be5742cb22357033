package tables

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// HasName reports whether a path has the name that the engines give to tables.
func HasName(path string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(path)))
}

// databaseLog is how the engines name their logs.
var databaseLog = regexp.MustCompile(`^[0-9]+\.log$`)

// Find returns the paths of the tables in a database's directory, sorted. If a database has none
// yet, the note says so. A directory with neither tables nor a log is an error.
func Find(dir string) (tables []string, note string, err error) {
	entries, err := os.ReadDir(dir)
	var logs []string
	for _, e := range entries {
		switch {
		case e.IsDir():
		case HasName(e.Name()):
			tables = append(tables, filepath.Join(dir, e.Name()))
		case databaseLog.MatchString(e.Name()):
			logs = append(logs, e.Name())
		}
	}
	switch {
	case err != nil || len(tables) > 0:
		return tables, "", err
	case len(logs) == 0:
		return nil, "", errors.New("no tables (.ldb, .sst) and no log: not a database")
	}
	return nil, fmt.Sprintf("no tables yet: all its data is in the log (%s), without filters",
		strings.Join(logs, ", ")), nil
}

package tables

import (
	"bytes"
	"encoding/binary"
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

// Find returns the paths of the tables in a database's directory, sorted. A directory without tables
// is an error.
func Find(dir string) (tables []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && HasName(e.Name()) {
			tables = append(tables, filepath.Join(dir, e.Name()))
		}
	}
	if err == nil && len(tables) == 0 {
		err = errors.New("no tables (.ldb, .sst); the data of a new database is all in its log")
	}
	return tables, err
}

// comparerOf returns the name of the comparer of a LevelDB database in this directory, "" if it is
// not to be found. Tables do not name it. The first record of the manifest, which CURRENT names,
// begins with it:
//
//	checksum (4 bytes), length of the record's part in this block (2), type (1)
//	1 and the name's length (varints), the name
func comparerOf(dir string) string {
	const header, comparerTag, enough = 4 + 2 + 1, 1, 1 << 10
	current, err := readStart(filepath.Join(dir, "CURRENT"), enough)
	name := strings.TrimSuffix(string(current), "\n")
	if err != nil || filepath.Base(name) != name || !strings.HasPrefix(name, "MANIFEST-") {
		return ""
	}
	b, err := readStart(filepath.Join(dir, name), enough)
	if err != nil || len(b) < header {
		return ""
	}
	record, tagged := bytes.CutPrefix(b[header:], []byte{comparerTag})
	length, n := binary.Uvarint(record)
	if !tagged || n <= 0 || length > uint64(len(record)-n) {
		return ""
	}
	return string(record[n:][:length])
}

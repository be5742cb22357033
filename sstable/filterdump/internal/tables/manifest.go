package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
)

const manifestPrefix = "MANIFEST-"

// Manifests returns the paths of the manifests in a directory: there are some if a database has
// written it.
func Manifests(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), manifestPrefix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
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
	if err != nil || filepath.Base(name) != name || !strings.HasPrefix(name, manifestPrefix) {
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

// LeftOver returns those of the tables in a directory that no manifest there names: a
// process that is killed leaves the tables that it was writing, and the next one that opens the
// database deletes them. It returns none if there is no manifest, or if one cannot be read to its
// end: then it may have named them.
func LeftOver(dir string, paths []string) map[string]bool {
	unnamed := map[uint64]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		number, err := strconv.ParseUint(strings.TrimSuffix(name, filepath.Ext(name)), 10, 64)
		if err == nil {
			unnamed[number] = path
		}
	}
	manifests, err := Manifests(dir)
	for _, path := range manifests {
		err = errors.Join(err, forgetNamed(path, unnamed))
	}
	left := map[string]bool{}
	if err == nil && len(manifests) > 0 {
		for _, path := range unnamed {
			left[path] = true
		}
	}
	return left
}

// forgetNamed deletes the tables that a manifest names.
func forgetNamed(manifest string, unnamed map[uint64]string) error {
	const most = 256 << 20 // Pebble begins a new one after 128 MiB
	file, size, err := openFile(manifest)
	if err != nil {
		return err
	}
	defer file.Close()
	if size == 0 || size > most {
		return errors.New("no manifest that an engine has written")
	}
	for records := record.NewReader(file, 0); ; {
		r, err := records.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		edit, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		forgetNew(edit, unnamed)
	}
}

// forgetNew deletes the tables that a record may add to the database. It takes for an addition
// whatever looks like one, since the engines' records differ in all that lies between:
//
//	7, 100, 102, 103 or 104; the level; the table's number     LevelDB, RocksDB, Pebble
//	105; the number; the size, which has two bytes at least    Pebble, a part of a table
func forgetNew(edit []byte, unnamed map[uint64]string) {
	const levels = 0x20 // more than any engine has, and no printable character
	for i := range len(edit) - 1 {
		switch after := edit[i+1:]; edit[i] {
		case 7, 100, 102, 103, 104:
			if number, n := binary.Uvarint(after[1:]); after[0] < levels && n > 0 {
				delete(unnamed, number)
			}
		case 105:
			number, n := binary.Uvarint(after)
			if n > 0 && n < len(after) && after[n] >= 0x80 {
				delete(unnamed, number)
			}
		}
	}
}

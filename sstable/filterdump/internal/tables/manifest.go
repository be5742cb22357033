package tables

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// comparerOf returns the name of the comparer of a LevelDB database in this directory, "" if it is
// not to be found. Tables do not name it. The first record of the manifest, which CURRENT names,
// begins with it:
//
//	checksum (4 bytes), length of the record's part in this block (2), type (1)
//	1 and the name's length (varints), the name
func comparerOf(dir string) string {
	current, err := os.ReadFile(filepath.Join(dir, "CURRENT"))
	if err != nil {
		return ""
	}
	name := strings.TrimSuffix(string(current), "\n")
	if filepath.Base(name) != name || !strings.HasPrefix(name, "MANIFEST-") {
		return ""
	}
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	defer file.Close()
	const header, comparerTag, enough = 4 + 2 + 1, 1, 1 << 10
	b, err := io.ReadAll(io.LimitReader(file, enough))
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

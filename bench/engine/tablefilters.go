package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"github.com/golang/snappy"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
)

// tableFilters describes the filters of a table in LevelDB's format.
type tableFilters struct {
	blockBytes int64   // the filter block
	filters    []int64 // the bytes of each filter that is not empty
	keys       int64   // all entries of the table, if it has filters
}

// readLevelDBTable reads a table's filters. goleveldb does not say how large they are, so this follows the file's footer
// to the metaindex block and that to the filter block. (LevelDB's doc/table_format.md; each block is followed by a byte
// for its compression and 4 bytes of checksum.)
func readLevelDBTable(path string) (t tableFilters, err error) {
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return t, err
	}
	size := info.Size()

	var reading error
	read := func(offset, n uint64) []byte {
		if reading != nil || offset > uint64(size) || n > uint64(size)-offset {
			reading = fmt.Errorf("%s: not a table", path)
			return nil
		}
		b := make([]byte, n)
		_, reading = file.ReadAt(b, int64(offset))
		return b
	}
	handle := func(b []byte) (offset, n uint64) {
		offset, i := binary.Uvarint(b)
		n, _ = binary.Uvarint(b[max(i, 0):])
		return offset, n
	}

	const footerLen, magic = 48, "\x57\xfb\x80\x8b\x24\x75\x47\xdb"
	footer := read(uint64(size)-footerLen, footerLen)
	if reading == nil && !bytes.HasSuffix(footer, []byte(magic)) {
		return t, fmt.Errorf("%s: not a table", path)
	}
	offset, n := handle(footer)
	metaindex := read(offset, n+1)
	if reading != nil {
		return t, reading
	}
	if metaindex[n] == 1 {
		if metaindex, err = snappy.Decode(nil, metaindex[:n]); err != nil {
			return t, fmt.Errorf("%s: metaindex block: %w", path, err)
		}
	}
	// Of the metaindex block's only entry: three one-byte lengths, a key that begins with "filter.", and a handle.
	if len(metaindex) < 3 || !strings.HasPrefix(string(metaindex[3:]), "filter.") {
		return t, nil
	}
	block := read(handle(metaindex[3+metaindex[1]:]))
	if reading != nil {
		return t, reading
	}
	// The filters, the offset of each and their end as 4 bytes, and a byte for the size of a window.
	array := block[:len(block)-1]
	starts := binary.LittleEndian.Uint32(array[len(array)-4:])
	for at := starts; int(at) < len(array)-4; at += 4 {
		if n := binary.LittleEndian.Uint32(array[at+4:]) - binary.LittleEndian.Uint32(array[at:]); n != 0 {
			t.filters = append(t.filters, int64(n))
		}
	}
	t.blockBytes = int64(len(block))

	reader, err := table.NewReader(file, size, storage.FileDesc{Type: storage.TypeTable}, nil, nil, &opt.Options{})
	if err != nil {
		return t, err
	}
	defer reader.Release()
	entries := reader.NewIterator(nil, nil)
	defer entries.Release()
	for entries.Next() {
		t.keys++
	}
	return t, entries.Error()
}

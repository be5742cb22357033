package sstable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

const levelDBMagic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"

// Tables of other formats are named, and not read. The magic numbers stand here as the bytes of a
// file, from the sources of those who write them. Files that are too short for one are no tables.
func TestFormats(t *testing.T) {
	// It may have filters that LevelDB does not know.
	ofRocksDB := writeTable(tableOptions{meta: []string{"fullfilter.a", "filter",
		"rocksdb.properties", ""}}, plainKeys("a", "b")...).bytes
	zeros := strings.Repeat("\x00", 100)
	formats := map[string]string{ // by file
		zeros + "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88": "RocksDB", string(ofRocksDB): "RocksDB",
		zeros + "🪳🪳": "Pebble", zeros + levelDBMagic[:7] + "\xdc": "",
	}
	for n := range 8 {
		formats[levelDBMagic[8-n:]] = ""
	}
	for file, format := range formats {
		_, err := sstable.OpenTable(strings.NewReader(file), int64(len(file)),
			sstable.WithFileName("x.sst"))
		var other *sstable.FormatError
		require.ErrorAs(t, err, &other)
		require.Equal(t, []string{"x.sst", format}, []string{other.File, other.Format})
		want := fmt.Sprintf("x.sst: a table in %s format, not in LevelDB's", format)
		if format == "" {
			want = "x.sst: not a table: it does not end in a magic number"
		}
		require.EqualError(t, err, want)
	}
	_, err := sstable.OpenTable(bytes.NewReader(nil), -1)
	require.Error(t, err)
	for n := 8; n <= 48; n++ { // with a magic number they are corrupt
		file := strings.Repeat("\x00", n-8) + levelDBMagic
		_, err := sstable.OpenTable(strings.NewReader(file), int64(len(file)))
		want := fmt.Sprintf("%d bytes are too short for a footer", n)
		if n == 48 {
			want = "footer: a block of 0 bytes at 0 lies outside the file"
		}
		require.EqualError(t, err, "sstable: corrupt at offset 0: "+want)
	}
}

var errFire = errors.New("the disk is on fire")

// A readerAt is an io.ReaderAt.
type readerAt func(p []byte, offset int64) (int, error)

func (r readerAt) ReadAt(p []byte, offset int64) (int, error) { return r(p, offset) }

// A failure to read says nothing about the table: it is passed on, wherever it happens, and is no
// corruption.
func TestReadErrors(t *testing.T) {
	o := tableOptions{perBlock: 3, filter: policy.NameLevelDB}
	small := writeTable(o, plainKeys(names(30)...)...).bytes
	large := slices.Concat(withTrailer(storedBlock{make([]byte, 2<<20), raw}),
		footer(sstable.BlockHandle{Length: 2 << 20}, sstable.BlockHandle{}))
	for _, file := range [][]byte{small, large} {
		size := int64(len(file))
		for at := int64(0); at < size; at += 1 + size/500 {
			err := readAll(t, readerAt(func(p []byte, offset int64) (int, error) {
				if offset <= at && at < offset+int64(len(p)) {
					return copy(p, file[offset:at]), errFire
				}
				return copy(p, file[offset:]), nil
			}), size)
			require.ErrorIs(t, err, errFire, "offset %d of %d", at, size)
			require.False(t, errors.As(err, new(*sstable.CorruptionError)), "%v", err)
			var begin int64 // of what is read
			_, scanErr := fmt.Sscanf(err.Error(), "x.ldb: at offset %d: the disk is on fire", &begin)
			require.NoError(t, scanErr, err)
			require.LessOrEqual(t, begin, at)
		}
	}
	// A reader may return io.EOF with the last bytes.
	size := int64(len(small))
	require.NoError(t, readAll(t, readerAt(func(p []byte, offset int64) (int, error) {
		return copy(p, small[offset:]), io.EOF
	}), size))
	// A reader that breaks the rules of io.ReaderAt, and reads less than len(p) without an error,
	// is no trouble either; nor is a file that ends early.
	for _, end := range []error{nil, io.EOF} {
		err := readAll(t, readerAt(func(p []byte, offset int64) (int, error) {
			if len(p) > len(levelDBMagic) {
				p = p[:len(p)/2]
			}
			return copy(p, small[offset:]), end
		}), size)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorAs(t, err, new(*sstable.CorruptionError))
	}
}

// readAll opens a table, reads all entries and the filters, and returns the first error.
func readAll(t testing.TB, r io.ReaderAt, size int64) error {
	table, err := sstable.OpenTable(r, size, sstable.WithFileName("x.ldb"))
	if err != nil {
		return err
	}
	for _, err := range table.Entries() {
		if err != nil {
			return err
		}
	}
	if _, err = openFilter(table); err == errNoFilter {
		err = nil
	}
	return err
}

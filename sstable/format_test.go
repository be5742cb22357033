package sstable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// requireFormatError demands the error for a file that is no table in LevelDB's format.
func requireFormatError(t testing.TB, file string, format, message string) {
	t.Helper()
	_, err := sstable.OpenTable(strings.NewReader(file), int64(len(file)),
		sstable.WithFileName("x.sst"))
	var other *sstable.FormatError
	require.ErrorAs(t, err, &other)
	require.Equal(t, "x.sst", other.File)
	require.Equal(t, format, other.Format)
	require.EqualError(t, err, "x.sst: "+message)
}

// Tables of other formats are named, and not read. The magic numbers stand here as the bytes of a
// file, from the sources of those who write them.
func TestFormats(t *testing.T) {
	for _, m := range []struct {
		magic  string
		format magic.Format
		name   string
	}{
		{"\x57\xfb\x80\x8b\x24\x75\x47\xdb", magic.LevelDB, "LevelDB"},
		{"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", magic.RocksDB, "RocksDB"},
		{"🪳🪳", magic.Pebble, "Pebble"},
		{"\x57\xfb\x80\x8b\x24\x75\x47\xdc", magic.Unknown, "unknown"},
		{"\x00\x00\x00\x00\x00\x00\x00\x00", magic.Unknown, "unknown"},
	} {
		file := strings.Repeat("\x00", 100) + m.magic
		format, number, err := magic.Of(strings.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		require.Equal(t, m.format, format, "%q", m.magic)
		require.Equal(t, m.name, format.String())
		switch format {
		case magic.LevelDB:
		case magic.Unknown:
			requireFormatError(t, file, "", fmt.Sprintf("not a table: "+
				"the file ends in %#016x, which is no format's magic number", number))
		default:
			requireFormatError(t, file, m.name, "a table in "+m.name+" format, not in LevelDB's")
		}
	}
}

// A table with RocksDB's properties may have filters that LevelDB does not know.
func TestTableOfRocksDB(t *testing.T) {
	file, _ := writeTable(t, tableOptions{
		meta: []metaBlock{{"fullfilter.a", []byte("filter")}, {"rocksdb.properties", nil}},
	}, plainKeys("a", "b")...)
	requireFormatError(t, string(file), "RocksDB", "a table in RocksDB format, not in LevelDB's")
}

// Files that are too short for a magic number are no tables, and those with one that are too short
// for a footer are corrupt.
func TestShortFiles(t *testing.T) {
	const levelDB = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"
	for n := range 8 {
		requireFormatError(t, levelDB[8-n:], "", fmt.Sprintf(
			"not a table: a file of %d bytes is too short for a magic number", n))
	}
	for _, size := range []int64{-1, math.MinInt64} {
		_, err := sstable.OpenTable(bytes.NewReader(nil), size)
		require.Error(t, err)
	}
	for n := 8; n <= 48; n++ {
		file := strings.Repeat("\x00", n-8) + levelDB
		_, err := sstable.OpenTable(strings.NewReader(file), int64(len(file)))
		want := fmt.Sprintf("%d bytes are too short for a footer", n)
		if n == 48 {
			want = "footer: a block of 0 bytes at 0 lies outside the file"
		}
		require.EqualError(t, err, "sstable: corrupt at offset 0: "+want)
	}
}

var errFire = errors.New("the disk is on fire")

// A failingReader cannot read the byte at one offset.
type failingReader struct {
	data []byte
	at   int64
}

func (r failingReader) ReadAt(p []byte, offset int64) (int, error) {
	if file := bytes.NewReader(r.data); r.at < offset || offset+int64(len(p)) <= r.at {
		return file.ReadAt(p, offset)
	}
	return copy(p, r.data[offset:r.at]), errFire
}

// A failure to read says nothing about the table: it is passed on, wherever it happens, and is no
// corruption.
func TestReadErrors(t *testing.T) {
	users := names(30)
	o := tableOptions{blockSize: 100, policy: exact{t}}
	small, _ := writeTable(t, o, plainKeys(users...)...)
	large := slices.Concat(withTrailer(make([]byte, 3<<20), raw),
		footer(sstable.BlockHandle{Offset: 0, Length: 3 << 20}, sstable.BlockHandle{}))
	for name, file := range map[string][]byte{"small": small, "a large metaindex": large} {
		failed := 0
		for at := int64(0); at < int64(len(file)); at++ {
			if size := int64(len(file)); name != "small" && at > 100 && at < size-100 {
				at = min(at+10000, size-100)
			}
			err := readAll(t, failingReader{file, at}, int64(len(file)))
			require.ErrorIs(t, err, errFire, "%s, offset %d of %d", name, at, len(file))
			var corrupt *sstable.CorruptionError
			require.False(t, errors.As(err, &corrupt), "%s, offset %d: %v", name, at, err)
			require.Regexp(t, `^x.ldb: at offset \d+: the disk is on fire$`, err.Error())
			var begin int64 // of what is read
			_, scanErr := fmt.Sscanf(err.Error(), "x.ldb: at offset %d:", &begin)
			require.NoError(t, scanErr)
			require.LessOrEqual(t, begin, at, name)
			failed++
		}
		require.Greater(t, failed, 400, name)
	}
	// A reader may return io.EOF with the last bytes.
	require.NoError(t, readAll(t, eofReader{small}, int64(len(small))))
	// A reader that breaks the rules of io.ReaderAt, and reads less than len(p) without an error,
	// is no trouble either; nor is a file that ends early.
	for _, end := range []error{nil, io.EOF} {
		err := readAll(t, shortReader{small, end}, int64(len(small)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorAs(t, err, new(*sstable.CorruptionError))
	}
}

type eofReader struct{ data []byte }

func (r eofReader) ReadAt(p []byte, offset int64) (int, error) {
	return copy(p, r.data[offset:]), io.EOF
}

// A shortReader reads half of what is asked for, except the 8 bytes of the magic number.
type shortReader struct {
	data []byte
	err  error
}

func (r shortReader) ReadAt(p []byte, offset int64) (int, error) {
	if len(p) > 8 {
		p = p[:len(p)/2]
	}
	return copy(p, r.data[offset:]), r.err
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
	_, err = openFilter(table, exact{t})
	if err == errNoFilter {
		return nil
	}
	return err
}

func TestTableMisuse(t *testing.T) {
	file, _ := writeTable(t, tableOptions{policy: exact{t}}, plainKeys("a", "b")...)
	open := func(opts ...sstable.TableOption) (*sstable.Table, error) {
		return sstable.OpenTable(bytes.NewReader(file), int64(len(file)), opts...)
	}
	_, err := open(nil)
	require.ErrorContains(t, err, "leave it out")
	for _, format := range []sstable.KeyFormat{-1, sstable.PlainKeys + 1, math.MaxInt32} {
		_, err = open(sstable.WithKeys(format))
		require.ErrorContains(t, err, "pass AutoKeys, InternalKeys or PlainKeys")
	}
	table, err := open()
	require.NoError(t, err)
	for _, p := range []policy.Policy{nil, &policy.Bloom{}} {
		_, err = table.OpenFilter(table.Filters()[0], p)
		require.Equal(t, policy.Check(p), err)
	}
}

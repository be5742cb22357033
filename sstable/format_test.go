package sstable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Magic numbers as bytes of a file, from the sources of those who write them.
var magics = []struct {
	magic  string
	format sstable.Format
	name   string
}{
	{"\x57\xfb\x80\x8b\x24\x75\x47\xdb", sstable.FormatLevelDB, "LevelDB"},
	{"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", sstable.FormatRocksDB, "RocksDB block-based"},
	{"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", sstable.FormatPebble, "Pebble"}, // two cockroaches
	{"\x64\x95\xbf\x63\x96\x22\x42\x82", sstable.FormatRocksDBPlain, "RocksDB plain"},
	{"\xb8\x13\x8f\x7a\xeb\x18\x34\x4f", sstable.FormatRocksDBPlain, "RocksDB plain"},
	{"\x73\x78\xf1\xc5\xd0\x89\x67\x92", sstable.FormatRocksDBCuckoo, "RocksDB cuckoo"},
	{"\x57\xfb\x80\x8b\x24\x75\x47\xdc", sstable.FormatUnknown, "unknown"},
	{"\x00\x00\x00\x00\x00\x00\x00\x00", sstable.FormatUnknown, "unknown"},
}

// What is not LevelDB's is named, and not read.
func TestFormats(t *testing.T) {
	require.Equal(t, "🪳🪳", magics[2].magic)
	for _, m := range magics {
		for _, before := range []int{0, 39, 40, 1000} {
			file := append(make([]byte, before), m.magic...)
			format, err := sstable.Identify(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, m.format, format, "%q", m.magic)
			require.Equal(t, m.name, format.String())

			_, err = sstable.OpenTable(bytes.NewReader(file), int64(len(file)),
				sstable.WithFileName("x.sst"))
			var other *sstable.FormatError
			if m.format == sstable.FormatLevelDB {
				require.False(t, errors.As(err, &other))
				continue
			}
			require.ErrorAs(t, err, &other)
			require.Equal(t, m.format, other.Format)
			require.Equal(t, "x.sst", other.File)
			if m.format != sstable.FormatUnknown {
				require.EqualError(t, err, "x.sst: a table in "+m.name+" format, not in LevelDB's")
			}
		}
	}
	_, err := sstable.OpenTable(bytes.NewReader([]byte("\x01\x02\x03\x04\x05\x06\x07\x08")), 8)
	require.EqualError(t, err,
		"table: not a table: the file ends in 0x0807060504030201, "+
			"which is no format's magic number")
	require.Equal(t, "unknown", sstable.Format(99).String())
}

// Files that are too short for a magic number are no tables.
func TestShortFiles(t *testing.T) {
	for n := range 8 {
		file := bytes.NewReader([]byte(magics[0].magic)[8-n:])
		format, err := sstable.Identify(file, int64(n))
		require.NoError(t, err)
		require.Equal(t, sstable.FormatUnknown, format)
		_, err = sstable.OpenTable(file, int64(n))
		var wrong *sstable.FormatError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, sstable.FormatUnknown, wrong.Format)
		require.EqualError(t, err, fmt.Sprintf(
			"table: not a table: a file of %d bytes is too short for a magic number", n))
	}
	for _, size := range []int64{-1, math.MinInt64} {
		_, err := sstable.OpenTable(bytes.NewReader(nil), size)
		require.Error(t, err)
	}
	// The magic number alone, or after too few bytes.
	for n := range 40 {
		file := append(make([]byte, n), magics[0].magic...)
		_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)),
			sstable.WithFileName("x.ldb"))
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, "x.ldb", corrupt.File)
		require.Equal(t, int64(0), corrupt.Offset)
		require.ErrorContains(t, err, fmt.Sprintf("%d bytes are too short for a footer", len(file)))
	}
	file := append(make([]byte, 40), magics[0].magic...) // a footer alone
	_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
	require.EqualError(t, err,
		"table: corrupt at offset 0: footer: a block of 0 bytes at 0 lies outside the file")
}

// A size beyond the end of the file, as of a file that was cut meanwhile, is corruption, and no
// endless wait for bytes.
func TestSizeBeyondTheFile(t *testing.T) {
	file, _ := writeTable(t, tableOptions{}, plainKeys("a", "b")...)
	for _, more := range []int64{1, 7, 8, 1000, 1 << 40, math.MaxInt64 - int64(len(file))} {
		_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file))+more)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt)
		_, err = sstable.Identify(bytes.NewReader(file), int64(len(file))+more)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
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
	_, err := sstable.Identify(failingReader{small, int64(len(small)) - 3}, int64(len(small)))
	require.ErrorIs(t, err, errFire)

	// A reader may return io.EOF with the last bytes.
	table, err := sstable.OpenTable(eofReader{small}, int64(len(small)))
	require.NoError(t, err)
	require.NotZero(t, table.Blocks())
}

type eofReader struct{ data []byte }

func (r eofReader) ReadAt(p []byte, offset int64) (int, error) {
	return copy(p, r.data[offset:]), io.EOF
}

// A reader that breaks the rules of io.ReaderAt, reads less than it was asked for and tells no
// reason, makes no trouble either.
func TestShortReads(t *testing.T) {
	file, _ := writeTable(t, tableOptions{}, plainKeys("a")...)
	err := readAll(t, shortReader{file}, int64(len(file)))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

type shortReader struct{ data []byte }

func (r shortReader) ReadAt(p []byte, offset int64) (int, error) {
	return copy(p[:len(p)/2], r.data[offset:]), nil
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
	_, err = table.Filter(exact{t})
	return err
}

func TestTableMisuse(t *testing.T) {
	file, w := writeTable(t, tableOptions{policy: exact{t}}, plainKeys("a", "b")...)
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
	_, err = table.Filter(nil)
	require.ErrorContains(t, err, "policy.NewBloom")
	_, err = table.OpenFilter(table.Filters()[0], nil)
	require.ErrorContains(t, err, "policy.NewBloom")

	// Handles that nobody found in the table.
	size := uint64(len(file))
	for _, h := range []sstable.BlockHandle{
		{Offset: size, Length: 0}, {Offset: 0, Length: size}, {Offset: size - 48 - 4, Length: 0},
		{Offset: 0, Length: size - 48 - 4},
		{Offset: math.MaxUint64, Length: 1}, {Offset: 1, Length: math.MaxUint64},
		{Offset: math.MaxUint64, Length: math.MaxUint64},
		{Offset: 0, Length: math.MaxUint64 - 4}, {Offset: 1 << 63, Length: 1 << 63},
		{Offset: math.MaxUint64 - 5, Length: 5},
	} {
		_, err := table.ReadBlock(h)
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt, "%+v", h)
		require.ErrorContains(t, err, "lies outside the file")
		if h.Offset > math.MaxInt64 {
			require.Equal(t, int64(-1), corrupt.Offset)
			require.Regexp(t, "^table: corrupt: a block", err.Error())
		} else {
			require.Equal(t, int64(h.Offset), corrupt.Offset)
		}
		for _, err := range table.MetaEntries(h) {
			require.ErrorAs(t, err, &corrupt)
		}
	}
	// A filter block is not made of entries.
	failed := false
	for _, err := range table.MetaEntries(w.filterBlock) {
		failed = err != nil
	}
	require.True(t, failed)
}

package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"testing"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// read opens and reads a table, and returns what it has: the filter and the keys. The error is of a
// documented type, or a panic's.
func read(t testing.TB, path string) ([][]byte, error) {
	content, err := Guard(func() (content [][]byte, err error) {
		table, err := Open(path, Options{})
		if err != nil {
			return nil, err
		}
		defer table.Close()
		f := table.Info().Filters
		content = append(content, f.Each[0])
		err = table.Keys(func(_ int, key []byte) {
			content = append(content, bytes.Clone(key))
			require.True(t, f.MayContain(f.Each[0], key))
		})
		return content, err
	})
	var corrupt *sstable.CorruptionError
	require.True(t, err == nil || errors.As(err, &corrupt) || errors.Is(err, ErrNoEnd) ||
		errors.Is(err, ErrCrashed), err)
	return content, err
}

// A changed bit, or a cut end, is an error, or costs nothing. Under a right checksum Pebble's
// reader follows wrong bytes anywhere: FuzzPebble tries them.
func TestPebbleFlips(t *testing.T) {
	step := 211
	if testing.Short() {
		step = 601
	}
	o := ownFilter
	o.BlockSize = 150
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		path := writePebble(t, f, o, pebblePoints(30), false)
		want, err := read(t, path)
		require.NoError(t, err)
		table := readFile(t, path)
		try := func(bit int) error {
			damaged := bytes.Clone(table)
			damaged[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			got, err := read(t, path)
			require.True(t, err != nil || reflect.DeepEqual(want, got), "%v, bit %d", f, bit)
			require.NotErrorIs(t, err, ErrUnknown)
			return err
		}
		tried, errs := 0, 0
		for bit := 0; bit < 8*len(table); bit += step {
			if tried++; try(bit) != nil {
				errs++
			}
			require.NoError(t, os.WriteFile(path, table[:bit/8], 0o600))
			_, err := read(t, path)
			require.ErrorIs(t, err, ErrNoEnd, "%v, %d bytes", f, bit/8)
		}
		require.Greater(t, errs, tried/2, "%v: the properties' padding does not matter", f)
		for bit := 8 * (len(table) - f.FooterSize()); bit < 8*(len(table)-magic.Len); bit++ {
			_ = try(bit) // the footer, which has no checksum before Pebble v6
		}
	}
}

// oldTable returns a table in the format that Pebble shared with RocksDB.
func oldTable(t testing.TB) string {
	return writePebble(t, pebblesst.TableFormatRocksDBv2, ownFilter, pebblePoints(100), false)
}

// extractor makes a property of a table by another name.
type extractor struct {
	pebblesst.BlockPropertyCollector
}

func (extractor) Name() string { return "rocksdb.prefix.extractor.name" }

// What RocksDB's filters have and Pebble's do not is not called damage, nor no filter.
func TestPebbleFiltersOfRocksDB(t *testing.T) {
	o := ownFilter
	o.BlockPropertyCollectors = []func() pebblesst.BlockPropertyCollector{
		func() pebblesst.BlockPropertyCollector {
			return extractor{pebblesst.NewTestKeysBlockPropertyCollector()}
		},
	}
	prefixes := writePebble(t, pebblesst.TableFormatPebblev1, o, nil, false)

	// A filter in parts has another name in the metaindex, which ends before the footer.
	inParts := readFile(t, oldTable(t))
	end := len(inParts) - pebblesst.TableFormatRocksDBv2.FooterSize() - block.TrailerLen
	offset, _ := binary.Uvarint(inParts[end+block.TrailerLen+1:])
	metaindex := inParts[offset:end]
	copy(metaindex[bytes.Index(metaindex, []byte("fullfilter.")):], "part")
	var sums block.Checksummer
	sums.Init(block.ChecksumTypeCRC32c)
	binary.LittleEndian.PutUint32(inParts[end+1:], sums.Checksum(metaindex, inParts[end]))

	for _, path := range []string{prefixes, writeFile(t, inParts)} {
		_, err := read(t, path)
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "filters of RocksDB that Pebble does not have")
	}
}

// No length or offset makes a read outside of the file, which would be an error of reading. Such an
// error is not called damage.
func TestPebbleReadAt(t *testing.T) {
	f, err := openFile(oldTable(t), Options{})
	require.NoError(t, err)
	for _, c := range []struct{ length, offset int64 }{
		{10, -1}, {10, f.size - 9}, {10, 1<<63 - 1}, {4, 0}, {f.size + 1, 0},
	} {
		err := pebbleFile{f}.ReadAt(context.Background(), make([]byte, c.length), c.offset)
		require.ErrorContains(t, err, "does not fit into the file")
	}
	table, err := openPebble(f, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	err = table.Keys(func(int, []byte) {})
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.False(t, errors.As(err, &corruption))
}

// Versions that Pebble's reader does not know are not called damage.
func TestPebbleVersions(t *testing.T) {
	old := readFile(t, oldTable(t))
	v4 := readFile(t, writePebble(t, pebblesst.TableFormatPebblev4, ownFilter, nil, false))
	for _, c := range []struct {
		original []byte
		at       int // in the footer
		bytes    string
		want     string // "" for corruption
	}{
		{v4, 0, "\x04", ""}, // a kind of checksums
		{old, 0, "\x02", "checksums of RocksDB that Pebble does not have"},
		{old, 41, "\x05", "unsupported rocksdb format version 5"},
		{v4, 41, "\x08", "unsupported pebble format version 8"},
	} {
		table := bytes.Clone(c.original)
		copy(table[len(table)-pebblesst.TableFormatRocksDBv2.FooterSize()+c.at:], c.bytes)
		_, err := read(t, writeFile(t, table))
		require.ErrorContains(t, err, c.want)
		require.Equal(t, c.want != "", errors.Is(err, ErrUnsupported))
	}
}

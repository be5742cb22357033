package tables_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// smallTables returns a small table of each kind of block, index and compression.
func smallTables(t testing.TB) map[string]string {
	var points []pebblePoint
	for i := range 10 {
		for v := range 1 + i%3 {
			points = append(points, pebblePoint{
				key: fmt.Sprintf("key%02d@%d", i, v), seq: uint64(9 - v),
				kind:  v2.InternalKeyKindSet,
				value: []byte("value value value value"[:2*i]),
			})
		}
	}
	spec := pebbleSpec{points: points, bits: 10, blockSize: 150}
	paths := map[string]string{}
	for _, w := range pebbleWriters() {
		s := spec
		// then keys are in both columns
		s.comparer = map[bool]string{true: "test.split"}[w.columnar()]
		s.blobs = w.table == v2sst.TableFormatPebblev7
		s.compression = v2sst.NoCompression
		paths[w.name] = w.newTable(t, s)
		if w.table == v2sst.TableFormatMax {
			s.compression, s.blockSize = v2sst.ZstdCompression, 0
			paths[w.name+" zstd"] = w.newTable(t, s)
			s.compression = v2sst.MinLZCompression
			paths[w.name+" MinLZ"] = w.newTable(t, s)
			s.compression, s.xxHash = v2sst.SnappyCompression, true
			paths[w.name+" snappy"] = w.newTable(t, s)
		}
	}
	return paths
}

// A content is what a table has to tell.
type content struct {
	policy string
	filter []byte
	keys   []string
}

// read opens and reads a table. Its errors are of a documented type; a panic is one of corruption,
// as the process that reads a table makes it one by its end.
func read(t testing.TB, path string) (c content, err error) {
	const most = 1 << 16 // is more than the keys of all small tables take
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		var corrupt *sstable.CorruptionError
		var unsupported *tables.UnsupportedError
		if p := recover(); p != nil {
			err = &sstable.CorruptionError{File: path, Offset: -1, Cause: fmt.Errorf("panic: %v", p)}
		}
		if err != nil && !errors.As(err, &corrupt) && !errors.As(err, &unsupported) {
			t.Errorf("%T: %v", err, err)
		}
	}()
	table, err := tables.Open(context.Background(), path)
	if err != nil {
		return c, err
	}
	defer table.Close()
	if f := table.Info().Filters; f != nil {
		c.policy, c.filter = f.Policy, f.Each[0]
	}
	size := 0
	err = table.Keys(func(_ int, key []byte) error {
		if size += len(key) + 1; size > most {
			panic("a wrong block is read in circles")
		}
		c.keys = append(c.keys, string(key))
		return nil
	})
	return c, err
}

// A damage makes something else of a table's content, at one of many places. It may do so in the
// content's memory.
type damage func(table []byte, place int) []byte

// eachDamaged calls f with a file for each place from begin to end, some steps apart.
func eachDamaged(
	t *testing.T, table []byte, begin, end, step int, d damage, f func(path string, place int),
) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	// Opened once: some file systems write a file to disk that was truncated to 0.
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	buf := make([]byte, len(table))
	for place := begin; place < end; place += step {
		copy(buf, table)
		damaged := d(buf, place)
		require.NoError(t, file.Truncate(int64(len(damaged))))
		_, err := file.WriteAt(damaged, 0)
		require.NoError(t, err)
		f(path, place)
	}
}

// sparse returns how many places apart damages are that differ little: more where the same was done
// in another format.
func sparse(name string) int {
	switch full := slices.Contains([]string{"(RocksDB,v2)", "(Pebble,v4)", "(Pebble,v5)",
		"(Pebble,v7)"}, name); {
	case testing.Short():
		return 61
	case full:
		return 1
	default:
		return 11
	}
}

func flipBit(table []byte, bit int) []byte {
	table[bit/8] ^= 1 << (bit % 8)
	return table
}

// A changed bit is an error, or costs nothing; a part of a table is an error. Under a right
// checksum Pebble's reader follows wrong bytes anywhere: FuzzPebble tries them, in another process.
func TestPebbleDamaged(t *testing.T) {
	for name, original := range smallTables(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := read(t, original)
			require.NoError(t, err)
			table := readFile(t, original)
			format, err := pebbleReader(t, original).TableFormat()
			require.NoError(t, err)
			footer := len(table) - format.FooterSize()

			tried, errs := 0, 0
			compare := func(path string, bit int) {
				tried++
				got, err := read(t, path)
				if err != nil {
					errs++
					return
				}
				require.Equal(t, want, got, "bit %d of byte %d", bit%8, bit/8)
			}
			// A checksum protects the blocks: 9 bits apart, every byte has its turn, and every bit
			// of some.
			eachDamaged(t, table, 0, 8*footer, 9*sparse(name), flipBit, compare)
			require.Greater(t, errs, 8*tried/10, "value blocks and ranges are not looked at")
			eachDamaged(t, table, 8*footer, 8*len(table), 1, flipBit, compare)

			fails := func(path string, place int) {
				_, err := read(t, path)
				require.Error(t, err, "%d", place)
			}
			eachDamaged(t, table, 0, len(table), sparse(name), func(table []byte, n int) []byte {
				return table[:n]
			}, fails)
			// The end of a table alone.
			eachDamaged(t, table, 0, 100, 1, func(table []byte, n int) []byte {
				return table[len(table)-n:]
			}, fails)
			// Some bytes before the footer are missing, or one.
			eachDamaged(t, table, 0, footer, 3*sparse(name), func(table []byte, n int) []byte {
				return slices.Delete(table, n, footer)
			}, fails)
			eachDamaged(t, table, 0, footer, 3*sparse(name), func(table []byte, at int) []byte {
				return slices.Delete(table, at, at+1)
			}, fails)
		})
	}
}

// sign writes the checksum of a block after it.
func sign(table []byte, h block.Handle, kind block.ChecksumType) {
	var sums block.Checksummer
	sums.Init(kind)
	trailer := table[h.Offset+h.Length:]
	binary.LittleEndian.PutUint32(trailer[1:],
		sums.Checksum(table[h.Offset:h.Offset+h.Length], trailer[0]))
}

// pebbleLayout returns the blocks that are read for the keys and the filter, and the kind of
// checksums.
func pebbleLayout(t testing.TB, path string) (blocks []block.Handle, checksum block.ChecksumType) {
	r := pebbleReader(t, path)
	layout, err := r.Layout()
	require.NoError(t, err)
	for _, h := range layout.Data {
		blocks = append(blocks, h.Handle)
	}
	blocks = append(blocks, layout.Index...)
	blocks = append(blocks, layout.Properties, layout.MetaIndex)
	if layout.TopIndex.Length > 0 {
		blocks = append(blocks, layout.TopIndex)
	}
	for _, h := range layout.Filter {
		blocks = append(blocks, h.Handle)
	}
	return blocks, r.BlockReader().ChecksumType()
}

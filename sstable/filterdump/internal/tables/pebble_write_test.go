package tables

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	v2bloom "github.com/cockroachdb/pebble/v2/bloom"
	v2provider "github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	v2vfs "github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// pebbleSpec says what a writer of Pebble writes. The zero value is an empty table without a
// filter.
type pebbleSpec struct {
	points []pebblePoint // sorted by key, then from the newest to the oldest
	ranges bool          // deletions of ranges, and range keys where the format has them

	bits   int            // above 0: Pebble's own filter
	policy *policy.Policy // not nil: ours

	// not empty: one of this name, whose Split is that of splitAt
	comparer    string
	merger      string // not empty: name of the merger
	blockSize   int    // 0: Pebble's choice; else also that of index blocks
	compression *v2sst.CompressionProfile
	xxHash      bool // checksums
	blobs       bool // values are in other files
}

type pebblePoint struct {
	key   string
	seq   uint64
	kind  v2.InternalKeyKind
	value []byte
}

// splitAt is a Split: the part of a key before the first "@".
func splitAt(key []byte) int {
	if i := bytes.IndexByte(key, '@'); i >= 0 {
		return i
	}
	return len(key)
}

// A pebbleWriter writes tables in one format.
type pebbleWriter struct {
	name  string // of the format
	table v2sst.TableFormat
}

// pebbleWriters returns those of all formats of Pebble v2, which has those of v1, but LevelDB's.
func pebbleWriters() (all []pebbleWriter) {
	for f := v2sst.TableFormatRocksDBv2; f <= v2sst.TableFormatMax; f++ {
		all = append(all, pebbleWriter{f.String(), f})
	}
	return all
}

// format is what Info says.
func (w pebbleWriter) format() string {
	if w.table == v2sst.TableFormatRocksDBv2 {
		return "RocksDB v2"
	}
	return fmt.Sprintf("Pebble v%d", w.table-v2sst.TableFormatPebblev1+1)
}

func (w pebbleWriter) columnar() bool { return w.table >= v2sst.TableFormatPebblev5 }

// newTable writes a table into a new directory and returns its path.
func (w pebbleWriter) newTable(t testing.TB, s pebbleSpec) string {
	o := v2sst.WriterOptions{TableFormat: w.table, MergerName: s.merger, BlockSize: s.blockSize}
	switch {
	case s.bits > 0:
		o.FilterPolicy = v2bloom.FilterPolicy(s.bits)
	case s.policy != nil:
		o.FilterPolicy = pebblev2.New(s.policy)
	}
	if s.comparer != "" {
		c := *v2.DefaultComparer
		c.Name, c.Split = s.comparer, splitAt
		o.Comparer = &c
	}
	if s.compression != nil {
		o.Compression = s.compression
	}
	if s.xxHash {
		o.Checksum = block.ChecksumTypeXXHash64
	}
	path := filepath.Join(t.TempDir(), "000001.sst")
	file, err := v2vfs.Default.Create(path, v2vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	writer := v2sst.NewWriter(v2provider.NewFileWritable(file), o)
	for i, p := range s.points {
		key := v2.MakeInternalKey([]byte(p.key), v2.SeqNum(p.seq), p.kind)
		if s.blobs && p.kind == v2.InternalKeyKindSet && i%2 == 0 {
			handle := blob.InlineHandle{
				InlineHandlePreface: blob.InlineHandlePreface{ValueLen: uint32(1 << (i % 25))},
				HandleSuffix:        blob.HandleSuffix{ValueID: blob.BlockValueID(i)},
			}
			require.NoError(t, writer.Raw().AddWithBlobHandle(key, handle, 0, false))
			continue
		}
		require.NoError(t, writer.Raw().Add(key, p.value, false))
	}
	if s.ranges {
		require.NoError(t, writer.DeleteRange([]byte("a"), []byte("c")))
		require.NoError(t, writer.DeleteRange([]byte("d"), []byte("e")))
		if w.table >= v2sst.TableFormatPebblev2 {
			require.NoError(t, writer.RangeKeySet([]byte("b"), []byte("f"), nil, []byte("value")))
		}
	}
	require.NoError(t, writer.Close())
	return path
}

// distinct returns the different keys of points in their order.
func distinct(points []pebblePoint) (keys [][]byte) {
	for _, p := range points {
		keys = append(keys, []byte(p.key))
	}
	return slices.CompactFunc(keys, bytes.Equal)
}

// pebbleOwn returns Pebble's own filter of keys.
func pebbleOwn(bits int, keys [][]byte) []byte {
	w := v2bloom.FilterPolicy(bits).NewWriter(v2.TableFilter)
	for _, key := range keys {
		w.AddKey(key)
	}
	return w.Finish(nil)
}

// readFile returns what a file holds.
func readFile(t testing.TB, path string) []byte {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

type pebblePoint struct {
	key   string
	seq   uint64
	kind  v2.InternalKeyKind
	value []byte
}

// pebblePoints returns entries of n different keys: of all kinds, some in several versions, with
// values of no bytes and of many.
func pebblePoints(n int) (points []pebblePoint) {
	kinds := []v2.InternalKeyKind{
		v2.InternalKeyKindSet, v2.InternalKeyKindSet, v2.InternalKeyKindSetWithDelete,
		v2.InternalKeyKindMerge, v2.InternalKeyKindDelete, v2.InternalKeyKindSingleDelete,
	}
	for i := range n {
		for v := i%3 + 1; v > 0; v-- {
			p := pebblePoint{key: fmt.Sprintf("key%04d%s", i, make([]byte, i%20)),
				seq: uint64(100 * v), kind: kinds[(i+v)%len(kinds)]}
			if p.kind != v2.InternalKeyKindDelete && p.kind != v2.InternalKeyKindSingleDelete {
				p.value = make([]byte, i%7*10)
			}
			points = append(points, p)
		}
	}
	return points
}

// writePebble has Pebble write a table of points, sorted by key and then from the newest to the
// oldest, of deletions of ranges, and of range keys if the format has them. It returns the path.
func writePebble(
	t testing.TB, f pebblesst.TableFormat, o pebblesst.WriterOptions, points []pebblePoint,
	blobs bool,
) string {
	o.TableFormat = f
	var file objstorage.MemObj
	w := pebblesst.NewWriter(&file, o)
	for i, p := range points {
		key := v2.MakeInternalKey([]byte(p.key), v2.SeqNum(p.seq), p.kind)
		if blobs && p.kind == v2.InternalKeyKindSet && i%2 == 0 {
			handle := blob.InlineHandle{
				InlineHandlePreface: blob.InlineHandlePreface{ValueLen: uint32(1 << (i % 25))},
				HandleSuffix:        blob.HandleSuffix{ValueID: blob.BlockValueID(i)},
			}
			require.NoError(t, w.Raw().AddWithBlobHandle(key, handle, 0, false))
			continue
		}
		require.NoError(t, w.Raw().Add(key, p.value, false))
	}
	require.NoError(t, w.DeleteRange([]byte("a"), []byte("c")))
	if f >= pebblesst.TableFormatPebblev2 {
		require.NoError(t, w.RangeKeySet([]byte("b"), []byte("f"), nil, []byte("value")))
	}
	require.NoError(t, w.Close())
	return writeFile(t, file.Data())
}

// writeFile writes a table into a new directory and returns its path.
func writeFile(t testing.TB, table []byte) string {
	path := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(path, table, 0o600))
	return path
}

func readFile(t testing.TB, path string) []byte {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func openTable(t testing.TB, path string, patterns ...string) Table {
	table, err := Open(path, Options{Policies: patterns})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Close()) })
	return table
}

// entries returns the keys that a table gives, with the filters that cover them.
func entries(t testing.TB, table Table) (keys []string, filters []int) {
	require.NoError(t, table.Keys(func(filter int, key []byte) {
		keys, filters = append(keys, string(key)), append(filters, filter)
	}))
	return keys, filters
}

var ownFilter = pebblesst.WriterOptions{FilterPolicy: bloom.FilterPolicy(10)} // Pebble's

// filterOf returns the filter that Pebble makes of points: one without a byte if there are none.
func filterOf(p v2.FilterPolicy, points []pebblePoint) []byte {
	if len(points) == 0 {
		return []byte{}
	}
	w := p.NewWriter(v2.TableFilter)
	for i, point := range points {
		if i == 0 || point.key != points[i-1].key {
			w.AddKey([]byte(point.key))
		}
	}
	return w.Finish(nil)
}

// All formats, with each filter, index, checksum and place of values that they have.
func TestPebble(t *testing.T) {
	type options = pebblesst.WriterOptions
	ours := func(p *policy.Policy, err error) options {
		return options{FilterPolicy: pebblev2.New(testkit.Must(p, err))}
	}
	twoLevels, xxHash := ownFilter, ownFilter
	twoLevels.BlockSize, twoLevels.IndexBlockSize = 300, 300
	xxHash.Checksum = block.ChecksumTypeXXHash64
	all, named := pebblePoints(400), policy.WithName("mine")
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		for name, c := range map[string]struct {
			o        options
			points   []pebblePoint
			encoding string // "": no filter
		}{
			"own filter": {ownFilter, all, "Pebble Bloom"},
			"no points":  {ownFilter, nil, "Pebble Bloom"},
			"ours":       {ours(policy.NewBloom(12)), all, "LevelDB Bloom"},
			"named":      {ours(policy.NewBloom(10, named)), all, "LevelDB Bloom"},
			"ribbon":     {ours(policy.NewRibbon(10)), all, "ribbon"},
			"a merger":   {options{MergerName: "test.\nmerger"}, all, ""},
			"xxHash64":   {xxHash, all, "Pebble Bloom"},
			"two levels": {twoLevels, all, "Pebble Bloom"},
			"blobs":      {options{}, all, ""},
		} {
			if name == "blobs" && f < pebblesst.TableFormatPebblev6 {
				continue
			}
			path := writePebble(t, f, c.o, c.points, name == "blobs")
			before := readFile(t, path)
			table := openTable(t, path, "mine")
			info := *table.Info()
			require.Equal(t, f.String(), "("+strings.ReplaceAll(info.Format, " ", ",")+")")
			require.EqualValues(t, len(before), info.Size)
			require.Equal(t, v2.DefaultComparer.Name, info.Comparer)
			require.Positive(t, info.IndexBytes)
			require.Less(t, info.IndexBytes, info.Size)
			require.Equal(t, c.encoding == "", info.Filters == nil)
			if info.Filters != nil {
				filter := filterOf(c.o.FilterPolicy, c.points)
				encoding, _ := info.Parse(filter)
				require.Equal(t, c.encoding, encoding)
				for _, p := range c.points {
					require.True(t, info.MayContain(filter, []byte(p.key)))
				}
				info.MayContain, info.Parse = nil, nil // functions are not comparable
				require.Equal(t, &Filters{Policy: c.o.FilterPolicy.Name(), Layout: "table",
					Bytes: int64(len(filter)), Each: [][]byte{filter}}, info.Filters)
			}
			keys, filters := entries(t, table)
			require.Len(t, keys, len(c.points), "%v, %s", f, name)
			for i, p := range c.points {
				require.Equal(t, p.key, keys[i])
				require.Zero(t, filters[i])
			}
			require.Equal(t, before, readFile(t, path))
		}
	}
}

// Nobody knows which part of a key the filters know if the comparer or the key schema is not known,
// and the names are told.
func TestPebbleUnknownNames(t *testing.T) {
	comparer := *v2.DefaultComparer
	comparer.Name = "test.\x1b\nsplit"
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		for _, merger := range []string{"", "test.merger"} {
			o := pebblesst.WriterOptions{Comparer: &comparer, MergerName: merger}
			_, err := Open(writePebble(t, f, o, nil, false), Options{})
			require.ErrorIs(t, err, ErrUnknown)
			want := "the comparer test.\x1b\nsplit is not known here"
			if f.BlockColumnar() {
				want = `the key schema DefaultKeySchema(test.\x1b\nsplit,16) is not known here`
			}
			require.ErrorContains(t, err, want)
		}
	}
}

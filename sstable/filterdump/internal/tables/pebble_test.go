package tables

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	v2vfs "github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// pebblePoints returns entries of n different keys: of all kinds, some in several versions, keys of
// one and of many bytes, values of none and of many.
func pebblePoints(t testing.TB, seed int64, n int) (points []pebblePoint) {
	kinds := []v2.InternalKeyKind{
		v2.InternalKeyKindSet, v2.InternalKeyKindSet, v2.InternalKeyKindSetWithDelete,
		v2.InternalKeyKindMerge, v2.InternalKeyKindDelete, v2.InternalKeyKindSingleDelete,
	}
	rng := policytest.Rand(t, seed)
	keys := policytest.Keys(rng, n)
	slices.SortFunc(keys, bytes.Compare)
	for _, key := range keys {
		for v := max(1, rng.Intn(8)-3); v > 0; v-- {
			p := pebblePoint{key: string(key), seq: uint64(100 * v), kind: kinds[rng.Intn(len(kinds))]}
			if p.kind != v2.InternalKeyKindDelete && p.kind != v2.InternalKeyKindSingleDelete {
				p.value = bytes.Repeat([]byte{byte(rng.Int())}, rng.Intn(3)*rng.Intn(60))
			}
			points = append(points, p)
		}
	}
	return points
}

func openTable(t testing.TB, path string, bloom ...string) Table {
	table, err := Open(path, bloom...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Close()) })
	return table
}

// entries returns the keys that a table gives, with the filters that cover them.
func entries(t testing.TB, table Table) (keys []string, filters []int) {
	require.NoError(t, table.Keys(func(filter int, key []byte) error {
		keys, filters = append(keys, string(key)), append(filters, filter)
		return nil
	}))
	return keys, filters
}

// All formats, with each filter, index, checksum, compression and place of values that they have.
func TestPebble(t *testing.T) {
	bloom := policytest.Must(policy.NewBloom(10))
	named := policytest.Must(policy.NewBloom(12, policy.WithName("mine")))
	ribbon := policytest.Must(policy.NewRibbon(10))
	n := 1500
	if testing.Short() {
		n = 400
	}
	points := pebblePoints(t, 1, n)
	keys := distinct(points)
	const own = "rocksdb.BuiltinBloomFilter"
	type properties = v2sst.Properties
	is := func(name string) func(*properties) bool {
		return func(p *properties) bool { return p.CompressionName == name }
	}
	for _, w := range pebbleWriters() {
		for name, c := range map[string]struct {
			spec   pebbleSpec
			policy string // "": no filter
			since  v2sst.TableFormat
			shows  func(*properties) bool // nil: all do
		}{
			"own filter":  {pebbleSpec{bits: 10}, own, 0, nil},
			"ours":        {pebbleSpec{policy: bloom}, policy.Name, 0, nil},
			"ours, named": {pebbleSpec{policy: named}, "mine", 0, nil},
			"ribbon":      {pebbleSpec{policy: ribbon}, policy.Name, 0, nil},
			"a merger":    {pebbleSpec{merger: "test.merger"}, "", 0, nil},
			"xxHash64":    {pebbleSpec{bits: 10, xxHash: true}, own, 0, nil},
			"two levels": {pebbleSpec{bits: 10, blockSize: 300}, own, 0,
				func(p *properties) bool { return p.IndexPartitions > 1 }},
			"value blocks": {pebbleSpec{}, "", v2sst.TableFormatPebblev3,
				func(p *properties) bool { return p.NumValueBlocks > 0 }},
			"blobs": {pebbleSpec{blobs: true}, "", v2sst.TableFormatPebblev6,
				func(p *properties) bool { return p.NumValuesInBlobFiles > 0 }},
			"snappy": {pebbleSpec{compression: v2sst.SnappyCompression}, "", 0, is("Snappy")},
			"zstd":   {pebbleSpec{compression: v2sst.ZstdCompression}, "", 0, is("ZSTD")},
			"MinLZ": {pebbleSpec{compression: v2sst.MinLZCompression}, "",
				v2sst.TableFormatPebblev6, is("MinLZ")},
			"raw": {pebbleSpec{compression: v2sst.NoCompression}, "", 0, is("NoCompression")},
		} {
			if w.table < c.since {
				continue
			}
			t.Run(w.name+"/"+name, func(t *testing.T) {
				c.spec.points, c.spec.ranges = points, true
				path := w.newTable(t, c.spec)
				require.True(t, c.shows == nil || c.shows(pebbleProperties(t, path)),
					"the table is not of the kind that this is about")
				before := readFile(t, path)
				table := openTable(t, path, "mine")

				var want *Filters
				if c.policy != "" {
					filter := pebbleOwn(10, keys)
					var reader FilterReader = PebbleFilters{}
					if p := c.spec.policy; p != nil {
						filter, reader = p.AppendFilter(nil, keys), LevelDBFilters{}
					}
					want = &Filters{
						Policy: c.policy, Layout: PerTable, Bytes: int64(len(filter)),
						Reader: reader, Each: [][]byte{filter},
					}
				}
				index := table.Info().IndexBytes
				require.Positive(t, index)
				require.Less(t, index, int64(len(before)))
				require.Equal(t, &Info{Format: w.format(), Size: int64(len(before)),
					Comparer: bytewise, IndexBytes: index, Filters: want,
				}, table.Info())
				for range 2 {
					got, filters := entries(t, table)
					require.Equal(t, len(points), len(got))
					for i, p := range points {
						require.Equal(t, p.key, got[i])
						require.Zero(t, filters[i])
						require.Zero(t, table.Locate([]byte(p.key)))
						require.True(t, want == nil || want.Reader.MayContain(want.Each[0],
							[]byte(p.key)))
					}
				}
				require.Equal(t, before, readFile(t, path))
				files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
				require.NoError(t, err)
				require.Equal(t, []string{path}, files)
			})
		}
	}
}

// pebbleReader opens a table with Pebble's reader.
func pebbleReader(t testing.TB, path string) *v2sst.Reader {
	file, err := v2vfs.Default.Open(path)
	require.NoError(t, err)
	readable, err := v2sst.NewSimpleReadable(file)
	require.NoError(t, err)
	split := *v2.DefaultComparer
	split.Name, split.Split = "test.split", splitAt
	schema := colblk.DefaultKeySchema(&split, 16)
	own := colblk.DefaultKeySchema(v2.DefaultComparer, 16)
	r, err := v2sst.NewReader(context.Background(), readable, v2sst.ReaderOptions{
		Comparers: v2sst.Comparers{
			split.Name: &split,
		}, KeySchemas: v2sst.MakeKeySchemas(&schema, &own),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func pebbleProperties(t testing.TB, path string) *v2sst.Properties {
	p, err := pebbleReader(t, path).ReadPropertiesBlock(context.Background(), nil)
	require.NoError(t, err)
	return &p
}

// A table of which only ranges are deleted has a filter without a byte.
func TestPebbleWithoutPoints(t *testing.T) {
	for _, w := range pebbleWriters() {
		for _, ranges := range []bool{true, false} {
			table := openTable(t, w.newTable(t, pebbleSpec{ranges: ranges, bits: 10}))
			require.Equal(t, [][]byte{{}}, table.Info().Each, w.name)
			require.Zero(t, table.Info().Bytes)
			require.Zero(t, table.Locate([]byte("b")))
			got, _ := entries(t, table)
			require.Empty(t, got)
		}
	}
}

// Filters know what Split leaves of a key, and columns have the two parts apart, whatever the
// comparer is called.
func TestPebbleSplit(t *testing.T) {
	var points []pebblePoint
	for i := range 900 {
		points = append(points, pebblePoint{
			key: fmt.Sprintf("key%04d@%d", i/3, i%3), seq: uint64(i), kind: v2.InternalKeyKindSet,
		})
	}
	for _, w := range pebbleWriters() {
		for _, comparer := range []string{"test.split", bytewise} {
			if !w.columnar() {
				continue // rows have whole keys
			}
			table := openTable(t,
				w.newTable(t, pebbleSpec{points: points, bits: 10, comparer: comparer}))
			info := table.Info()
			require.Equal(t, comparer, info.Comparer)
			require.Empty(t, info.Unverified)
			got, _ := entries(t, table)
			require.Equal(t, len(points), len(got))
			for i, key := range got {
				require.Equal(t, fmt.Sprintf("key%04d", i/3), key)
				require.True(t, info.Reader.MayContain(info.Each[0], []byte(key)))
			}
		}
	}
}

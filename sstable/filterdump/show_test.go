package main

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// The probes that -key shows are those of the format's text, for a key that is there and one that is not.
func TestKey(t *testing.T) {
	path := golden("goleveldb", "name2_baselg13", "000002.ldb")
	table, err := tables.Open(path, tables.Options{})
	require.NoError(t, err)
	defer table.Close()
	for _, c := range []struct{ arg, key, there string }{
		{"k0000003", "k0000003", "it is in the table"},
		{"0x6b30303030303033", "k0000003", "it is in the table"},
		{"k0000004", "k0000004", "it is not in the table"},
	} {
		status, out, stderr := filterdump(t, "-key", c.arg, path)
		require.Zero(t, status, stderr)
		require.Contains(t, out, fmt.Sprintf("%q = 0x%x (8 bytes)", c.key, c.key))
		require.Contains(t, out, c.there)
		h := policy.Hash([]byte(c.key))
		require.Contains(t, out, fmt.Sprintf("hash 0x%08x", h))
		filter := table.Info().Filters.Each[table.Locate([]byte(c.key))]
		may := true
		for j := range 6 {
			probe := h + uint32(j)*bits.RotateLeft32(h, 15)
			bit := probe % uint32(8*(len(filter)-1))
			set := filter[bit/8]&(1<<(bit%8)) != 0
			may = may && set
			require.Regexp(t, fmt.Sprintf(`probe +%d  bit +%d  = bit %d of byte +%d  %v`, j+1, bit, bit%8, bit/8, map[bool]string{true: "set", false: "clear"}[set]), out)
		}
		require.NotContains(t, out, "probe  7")
		require.Contains(t, out, map[bool]string{true: ": may contain; ", false: ": absent; "}[may])
	}
	_, out, _ := filterdump(t, "-key", "zzz", path)
	require.Contains(t, out, "a lookup asks no filter")
	_, out, _ = filterdump(t, "-key", "k0000003", golden("leveldb", "tables", "no_filter"), golden("rocksdb", "fv5_ribbon.sst"), golden("rocksdb", "fv2_full_bloom.sst"))
	require.Contains(t, out, "no filter")
	require.Contains(t, out, "format_version 5")
	require.Contains(t, out, "probe  6")
	status, out, _ := filterdump(t, "-key", "k0000003", golden("rocksdb", "fv5_ribbon.sst"))
	require.Equal(t, exitCannotRun, status, "none could be shown")
	require.Equal(t, 1, strings.Count(out, "fv5_ribbon.sst"), "the path stands there once")
	_, out, _ = filterdump(t, "-key", "0x00ff", path)
	require.Contains(t, out, "key 0x00ff (2 bytes)\n")
}

// The map has a cell for each filter, and shows the dense ones.
func TestMap(t *testing.T) {
	status, out, stderr := filterdump(t, "-map", golden("leveldb", "tables", "large_values"))
	require.Zero(t, status, stderr)
	require.Equal(t, 124, strings.Count(out, string(noKeys))-1, "the empty filters, and the legend") // of 166, says the Python reader
	require.Contains(t, out, "a cell is 1 filter, for windows of 2,048 bytes")

	var b strings.Builder
	half := make([]byte, 1024)
	for i := range half[512:] {
		half[i] = 0xff
	}
	drawFilters(&b, &tables.Filters{Policy: "p", Each: [][]byte{half}})
	require.Equal(t, 512, strings.Count(b.String(), "█"))
	require.Equal(t, 512, strings.Count(b.String(), "▁"))
	require.Contains(t, b.String(), "a cell is 1 byte of the filter")
	b.Reset()
	drawFilters(&b, &tables.Filters{Policy: "p", PerWindow: true, BaseLg: 11, Each: [][]byte{{0x0f, 0x0f}, {}, {0xff, 0xff}, {0, 0}, {0x01, 0x01}}})
	require.Contains(t, b.String(), "▅·█▁▂")
	b.Reset()
	drawFilters(&b, &tables.Filters{Policy: "p", PerWindow: true, BaseLg: 11, Each: make([][]byte, 100_000)})
	require.Less(t, strings.Count(b.String(), "\n"), 20, "many filters share a cell")

	_, out, _ = filterdump(t, "-map", golden("rocksdb", "fv5_ribbon.sst"), golden("leveldb", "tables", "no_filter"))
	require.Contains(t, out, "no filter")
	require.Contains(t, out, "format_version 5")
	status, _, _ = filterdump(t, "-map", filepath.Join(os.TempDir(), "no such directory"))
	require.Equal(t, exitCannotRun, status)
}

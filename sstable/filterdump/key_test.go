package main

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// The probes that -key shows are those of the format's description, for present keys and absent
// ones.
func TestKey(t *testing.T) {
	path := golden("goleveldb", "name2_baselg13", "000002.ldb")
	table, err := tables.Open(context.Background(), path)
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
		filter := table.Info().Each[table.Locate([]byte(c.key))]
		may := true
		for j := range 6 {
			probe := h + uint32(j)*bits.RotateLeft32(h, 15)
			bit := probe % uint32(8*(len(filter)-1))
			set := filter[bit/8]&(1<<(bit%8)) != 0
			may = may && set
			require.Regexp(t, fmt.Sprintf(`probe +%d  bit +%d  = bit %d of byte +%d  %v`, j+1, bit,
				bit%8, bit/8, map[bool]string{true: "set", false: "clear"}[set]), out)
		}
		require.NotContains(t, out, "probe  7")
		require.Contains(t, out, map[bool]string{true: ": may contain; ", false: ": absent; "}[may])
	}
	_, out, _ := filterdump(t, "-key", "zzz", path)
	require.Contains(t, out, "a lookup reads no filter")
	newer := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(newer, append(make([]byte, 100), "🪳🪳"...), 0o600))
	dir := t.TempDir() // with Pebble's own filters
	db, err := pebble.Open(dir, &pebble.Options{
		Levels: [7]pebble.LevelOptions{{FilterPolicy: bloom.FilterPolicy(10)}}})
	require.NoError(t, err)
	require.NoError(t, db.Set([]byte("k0000003"), nil, nil))
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
	_, out, _ = filterdump(t, "-key", "k0000003", golden("leveldb", "tables", "no_filter"), newer,
		dir)
	require.Contains(t, out, "no filter")
	require.Contains(t, out, "Pebble v0: only")
	require.Contains(t, out, "rocksdb.BuiltinBloomFilter, filter 1 of 1, Pebble Bloom: may contain; "+
		"it is in the table\n")
	require.NotContains(t, out, "probe", "their probes are others")
	status, out, _ := filterdump(t, "-key", "k0000003", newer)
	require.Equal(t, exitCannotRun, status, "none could be shown")
	require.Equal(t, 1, strings.Count(out, newer), "the path stands there once")
	_, out, _ = filterdump(t, "-key", "0x00ff", path)
	require.Contains(t, out, `key "\x00\xff" = 0x00ff (2 bytes)`+"\n")
}

package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/stretchr/testify/require"
)

// stored are databases that releases and other programs wrote: a manifest of each engine's.
var stored = []string{
	"goleveldb/default_snappy",
	"leveldb/tables/multi_level",
	"releases/v0.1.0/goleveldb/name1_ribbon/db",
	"releases/v0.1.0/pebblev1/name1_ribbon/db",
	"releases/v0.1.0/pebblev2/name1_ribbon/db",
}

func view(t *testing.T, dir string) *View {
	v, err := NewView(dir)
	require.NoError(t, err)
	t.Cleanup(v.Close)
	return v
}

func levelsOf(t *testing.T, v *View) map[int]int {
	db, err := Open(Options{View: v.Dir, Settings: v.Settings}, nil)
	require.NoError(t, err)
	defer db.Close()
	levels, err := db.Levels()
	require.NoError(t, err)
	return levels
}

// No flipped bit of a manifest passes as one with other tables.
func TestManifestFlips(t *testing.T) {
	for _, dir := range stored {
		t.Run(dir, func(t *testing.T) {
			v := view(t, filepath.Join("../../../../testdata", dir))
			require.NoError(t, CheckManifest(v.Manifest))
			want := levelsOf(t, v)
			require.NotEmpty(t, want)
			paths, err := filepath.Glob(filepath.Join(v.Dir, "MANIFEST-*"))
			require.NoError(t, err)
			require.Len(t, paths, 1)
			for bit := range 8 * len(v.Manifest) {
				v.Manifest[bit/8] ^= 1 << (bit % 8)
				if CheckManifest(v.Manifest) == nil {
					require.NoError(t, os.WriteFile(paths[0], v.Manifest, 0o600))
					require.Equal(t, want, levelsOf(t, v), "bit %d", bit)
				}
				v.Manifest[bit/8] ^= 1 << (bit % 8)
			}
		})
	}
}

// The end of a manifest in use is no damage: its last chunk may not be all there, and zeros may
// follow. Chunks of three blocks are checked too.
func TestManifestEnds(t *testing.T) {
	for _, dir := range stored {
		manifest := view(t, filepath.Join("../../../../testdata", dir)).Manifest
		for n := range manifest {
			require.NoError(t, CheckManifest(manifest[:n]), "%s, the first %d bytes", dir, n)
		}
		require.NoError(t, CheckManifest(append(manifest, make([]byte, 100_000)...)))
	}
	var b bytes.Buffer
	w := record.NewWriter(&b)
	_, err := w.WriteRecord(make([]byte, 3*blockSize))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	long := b.Bytes()
	require.NoError(t, CheckManifest(long))
	for _, at := range []int{10, blockSize + 10, 2*blockSize + 10} {
		long[at] ^= 1
		begin := fmt.Sprintf("offset %d", at/blockSize*blockSize)
		require.ErrorContains(t, CheckManifest(long), begin)
		long[at] ^= 1
	}
}

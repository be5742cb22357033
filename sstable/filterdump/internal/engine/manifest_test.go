package engine

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
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

// tablesOf returns the tables of a view's database, in which each key is found.
func tablesOf(t *testing.T, v *View) map[int]Place {
	db, err := Open(Options{View: v}, func(int) {})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Keys(func(key []byte) {
		found, err := db.Get(key)
		require.True(t, found, err)
	}))
	tables, err := db.Tables()
	require.NoError(t, err)
	return tables
}

// No flipped bit of a manifest passes as one with other tables.
func TestManifestFlips(t *testing.T) {
	for _, dir := range stored {
		t.Run(dir, func(t *testing.T) {
			v := view(t, filepath.Join("../../../../testdata", dir))
			require.NoError(t, CheckManifest(v.Manifest))
			want := tablesOf(t, v)
			require.NotEmpty(t, want)
			for bit := range 8 * len(v.Manifest) {
				v.Manifest[bit/8] ^= 1 << (bit % 8)
				if CheckManifest(v.Manifest) == nil {
					require.Equal(t, want, tablesOf(t, v), "bit %d", bit)
				}
				v.Manifest[bit/8] ^= 1 << (bit % 8)
			}
		})
	}
}

// longManifest returns a manifest of several blocks, and where its chunks begin.
func longManifest(t *testing.T) (manifest []byte, chunks []int) {
	var b bytes.Buffer
	w := record.NewWriter(&b)
	for n := range 100 { // records that end in all three ways
		_, err := w.WriteRecord(bytes.Repeat([]byte{byte(n + 1)}, 30+n*n/3))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	manifest = b.Bytes()
	require.Greater(t, len(manifest), 3*blockSize)
	for at := 0; at < len(manifest); {
		if left := blockSize - at%blockSize; left < headerSize {
			at += left
			continue
		}
		chunks = append(chunks, at)
		at += headerSize + int(binary.LittleEndian.Uint16(manifest[at+4:]))
	}
	return manifest, chunks
}

// In the blocks before the last, nothing is torn: no page of zeros passes, as a disk may leave one
// where a chunk begins, no missing bytes and no flipped bit of a length. goleveldb would skip the
// block, and Pebble would take it for the end.
func TestManifestDamage(t *testing.T) {
	manifest, chunks := longManifest(t)
	last := chunks[len(chunks)-1]
	const page = 4 << 10
	for _, at := range append([]int{2 * page, 9 * page}, chunks...) {
		damaged := bytes.Clone(manifest)
		clear(damaged[at:min(len(damaged), at+page)])
		if at < last-page {
			require.Error(t, CheckManifest(damaged), "zeros at %d", at)
		}
	}
	for _, chunk := range chunks[:len(chunks)-1] {
		for _, at := range []int{chunk, chunk + 4, chunk + 6, chunk + 9} {
			for _, n := range []int{1, 2, 7, 13} {
				damaged := slices.Delete(bytes.Clone(manifest), at, min(at+n, last))
				require.Error(t, CheckManifest(damaged), "%d bytes are missing at %d", n, at)
			}
		}
		for bit := range 16 {
			damaged := bytes.Clone(manifest)
			damaged[chunk+4+bit/8] ^= 1 << (bit % 8)
			inLast := chunk/blockSize == len(manifest)/blockSize
			require.True(t, inLast || CheckManifest(damaged) != nil, "the length at %d", chunk)
		}
	}
}

// The end of a manifest in use is no damage: its last chunk may not be all there, and zeros may
// follow.
func TestManifestEnds(t *testing.T) {
	for _, dir := range stored {
		manifest := view(t, filepath.Join("../../../../testdata", dir)).Manifest
		first := headerSize + int(binary.LittleEndian.Uint16(manifest[4:]))
		for n := range manifest {
			err := CheckManifest(manifest[:n])
			require.Equal(t, n >= first, err == nil, "%s, the first %d bytes: %v", dir, n, err)
		}
		require.NoError(t, CheckManifest(append(manifest, make([]byte, 100_000)...)))
	}
	long, _ := longManifest(t)
	require.NoError(t, CheckManifest(long))
	require.NoError(t, CheckManifest(append(long, make([]byte, 4<<10)...)))
}

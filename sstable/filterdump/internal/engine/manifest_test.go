package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

func tablesOf(t *testing.T, v *View) map[int]Place {
	db, err := Open(Options{View: v}, nil)
	require.NoError(t, err)
	defer db.Close()
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
	for n := range 3*blockSize + 3000 {
		if n%1000 == 0 { // records that end in all three ways
			_, err := w.WriteRecord(bytes.Repeat([]byte{byte(n/1000 + 1)}, 30+n/3000*n/300))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	manifest = b.Bytes()
	for at := 0; at < len(manifest); {
		if blockSize-at%blockSize < headerSize {
			at += blockSize - at%blockSize
			continue
		}
		chunks = append(chunks, at)
		at += headerSize + int(binary.LittleEndian.Uint16(manifest[at+4:]))
	}
	require.Greater(t, len(manifest), 3*blockSize)
	return manifest, chunks
}

// A page of zeros, as a disk may leave, is damage, also where a chunk begins: goleveldb would skip
// the block, and Pebble would take it for the end. Only at the end zeros are none.
func TestManifestZeros(t *testing.T) {
	manifest, chunks := longManifest(t)
	const page = 4 << 10
	starts := append([]int(nil), chunks...)
	for at := 0; at < len(manifest); at += page {
		starts = append(starts, at)
	}
	for _, at := range starts {
		damaged := bytes.Clone(manifest)
		clear(damaged[at:min(len(damaged), at+page)])
		if len(bytes.TrimLeft(damaged[at:], "\x00")) > 0 {
			require.Error(t, CheckManifest(damaged), "zeros at %d", at)
		}
	}
	require.NoError(t, CheckManifest(append(manifest, make([]byte, page)...)))
}

// Nor do missing bytes pass, unless the chunk at the end misses some.
func TestManifestShifts(t *testing.T) {
	manifest, chunks := longManifest(t)
	last := chunks[len(chunks)-1]
	for _, chunk := range chunks[:len(chunks)-1] {
		for _, at := range []int{chunk, chunk + 4, chunk + 6, chunk + 9} {
			for _, n := range []int{1, 2, 7, 13} {
				shifted := slices.Delete(bytes.Clone(manifest), at, min(at+n, last))
				require.Error(t, CheckManifest(shifted), "%d bytes at %d", n, at)
			}
		}
	}
}

// In an inner block nothing is torn, and behind a chunk that is torn nothing is whole. A torn chunk
// has a type.
func TestManifestTorn(t *testing.T) {
	manifest, chunks := longManifest(t)
	last := len(chunks) - 1
	require.Equal(t, chunks[last-1]/blockSize, chunks[last]/blockSize, "two in the last block")
	damaged := func(at int, kind byte) error {
		b := bytes.Clone(manifest)
		b[at]++            // of the checksum
		b[at+5] = 0xff     // of the length
		b[at+6] = kind     // its type
		b[at+headerSize]++ // of its contents
		return CheckManifest(b)
	}
	require.Error(t, damaged(chunks[0], 1), "an inner block")
	require.Error(t, damaged(chunks[last-1], 1), "a chunk follows")
	for kind := range byte(20) {
		require.Equal(t, 1 <= kind && kind <= 4, damaged(chunks[last], kind) == nil, kind)
	}
}

// No flipped bit of a length passes in a block that is not the last: there, nothing is torn.
func TestManifestLengths(t *testing.T) {
	manifest, chunks := longManifest(t)
	for _, at := range chunks {
		for bit := range 16 {
			if at/blockSize == len(manifest)/blockSize {
				continue
			}
			manifest[at+4+bit/8] ^= 1 << (bit % 8)
			require.Error(t, CheckManifest(manifest), "bit %d of the length at %d", bit, at)
			manifest[at+4+bit/8] ^= 1 << (bit % 8)
		}
	}
}

// The end of a manifest in use is no damage: its last chunk may not be all there, and zeros may
// follow. Chunks of three blocks are checked too.
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

package policy

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes of the library's filters, and its answers about present and absent hashes.
func TestFuseAgainstLibrary(t *testing.T) {
	rng := seeded(t, 91)
	for _, n := range []int{900, 1_500, 4_376, 30_000} {
		keys := absentKeys(2 * n) // which differ
		present := keys[:n]
		hashes := hashesOf(keys)
		rng.Shuffle(n, func(i, j int) { present[i], present[j] = present[j], present[i] })

		filter := mustFuse(t, 11.5).AppendFilter(nil, present)
		made8 := libraryFuse[uint8](slices.Clone(hashes[:n]))
		require.True(t, bytes.Equal(made8.Fingerprints, filter[:len(filter)-fuseTrailer]), "%d keys", n)
		for i, answer := range requireSameAnswers(t, "8 bits", filter, keys) {
			require.Equal(t, made8.Contains(keyHash(keys[i])), answer)
		}

		filter = mustFuse(t, 27.5).AppendFilter(nil, present)
		made16 := libraryFuse[uint16](slices.Clone(hashes[:n]))
		require.Equal(t, 2*len(made16.Fingerprints), len(filter)-fuseTrailer)
		for i, cell := range made16.Fingerprints {
			if binary.LittleEndian.Uint16(filter[2*i:]) != cell {
				require.Fail(t, "another cell", "cell %d of %d keys", i, n)
			}
		}
		for i, answer := range requireSameAnswers(t, "16 bits", filter, keys) {
			require.Equal(t, made16.Contains(keyHash(keys[i])), answer)
		}

		trailer := filter[len(filter)-fuseTrailer:]
		require.Equal(t, made16.Seed, binary.LittleEndian.Uint64(trailer))
		require.Equal(t, made16.SegmentCount, binary.LittleEndian.Uint32(trailer[8:]))
		require.Equal(t, made16.SegmentLength, uint32(1)<<trailer[12])
	}
}

// No key is lost, whatever the setting and the number of keys, duplicates or not.
func TestFuseLosesNoKey(t *testing.T) {
	rng := seeded(t, 93)
	settings := []float64{0.3, 8, 11.5, 12.2, 12.25, 19.4, 28.2, 40}
	counts := []int{300, 362, 363, 640, 853, 854, 1_009, 1_010, 2_048, 2_049, 3_361, 3_362}
	for n := range 20 {
		counts = append(counts, n)
	}
	for _, n := range counts {
		keys := randomKeys(rng, n)
		same := slices.Repeat([][]byte{[]byte("the same key")}, n)
		twice := append(keys[:n:n], keys...)
		rng.Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
		for _, bitsPerKey := range settings {
			p := mustFuse(t, bitsPerKey)
			want := requireWriters(t, "once", p, keys)
			require.Equal(t, want, requireWriters(t, "twice", p, twice), "%d keys, %v bits per key", n, bitsPerKey)
			if n > 0 {
				require.Equal(t, p.AppendFilter(nil, same[:1]), requireWriters(t, "the same", p, same), "%d keys, %v bits per key", n, bitsPerKey)
			}
		}
	}
}

// By the builder and by AppendFilter, into memory that is dirty and anywhere, all widths and those that are not.
func TestFuseWritersAgainstReference(t *testing.T) {
	rng := seeded(t, 94)
	widths := map[byte]int{}
	for _, bitsPerKey := range []float64{0.01, 9, 9.7, 10, 11, 11.4, 11.8, 12.2, 12.25, 14, 15.5, 17.6, 18, 19.4, 19.5, 22, 25, 28.2, 28.25, 50} {
		p := mustFuse(t, bitsPerKey)
		builder := p.NewBuilder()
		for _, n := range []int{0, 1, int(10240 / bitsPerKey), int(10240/bitsPerKey) + 300, 1_000 + rng.Intn(1_000), 4_790, 30_000} {
			n = min(n, 30_000)
			keys := randomKeys(rng, n)
			for _, key := range keys {
				builder.Add(unaligned(rng, key))
			}
			want := referenceFuse(bitsPerKey, keys)
			dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)+10))
			prefix := rng.Intn(len(dirty) + 1)
			require.True(t, bytes.Equal(want, builder.Finish(dirty[:prefix])[prefix:]), "%v bits per key, %d keys", bitsPerKey, n)

			dirty = bytes.Repeat([]byte{0xff}, 2*len(want)+10)
			got := p.AppendFilter(dirty[:prefix], keys)
			require.True(t, bytes.Equal(want, got[prefix:]), "%v bits per key, %d keys", bitsPerKey, n)
			require.Equal(t, bytes.Repeat([]byte{0xff}, prefix), got[:prefix])
			requireAnswers(t, want, append(keys[:min(n, 1_000):min(n, 1_000)], randomKeys(rng, 50)...))
			if want[len(want)-1] == 0x46 {
				widths[want[len(want)-3]]++
			} else {
				widths[0]++
			}
		}
	}
	for _, width := range []byte{0, 8, 12, 16} {
		require.Greater(t, widths[width], 4, "filters of width %d", width)
	}
}

// Size tells of keys that came after it, and forgets what was finished.
func TestFuseSizeAndAdd(t *testing.T) {
	p := mustFuse(t, 12.2)
	builder := p.NewBuilder()
	keys := absentKeys(5_000)
	for _, counts := range [][]int{{2_000, 3_000, 3_001}, {1, 2_500}, {4_999, 5_000}, {0, 3}} {
		added := 0
		for _, n := range counts {
			for ; added < n; added++ {
				builder.Add(keys[added])
			}
			require.Equal(t, len(referenceFuse(12.2, keys[:n])), builder.Size())
		}
		require.Equal(t, referenceFuse(12.2, keys[:added]), builder.Finish(nil))
	}

	// A filter that Size has made is not the next one's, which has as many keys.
	for _, key := range keys[:2_000] {
		builder.Add(key)
	}
	require.Equal(t, len(referenceFuse(12.2, keys[:2_000])), builder.Size())
	first := builder.Finish(nil)
	for _, key := range keys[2_000:4_000] {
		builder.Add(key)
	}
	require.Equal(t, referenceFuse(12.2, keys[2_000:4_000]), builder.Finish(nil))
	require.Equal(t, referenceFuse(12.2, keys[:2_000]), first, "the first filter is as it was")
}

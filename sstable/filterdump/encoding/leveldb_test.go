package encoding

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

func TestLevelDBNamesWhatItReads(t *testing.T) {
	require.Equal(t, "LevelDB Bloom or blocked Bloom or binary fuse", LevelDB.String())
	require.Equal(t, "blocked Bloom, version 1", BlockedBloom.String())
	require.Equal(t, "binary fuse, version 1", BinaryFuse.String())
}

// randomKeys returns n random keys of 0 to 39 bytes.
func randomKeys(rng *rand.Rand, n int) (keys [][]byte) {
	for range n {
		key := make([]byte, rng.Intn(40))
		rng.Read(key)
		keys = append(keys, key)
	}
	return keys
}

// requireAnswers asks a filter of LevelDB's names for random keys: the answer is package policy's, and that of the probes.
func requireAnswers(t *testing.T, rng *rand.Rand, filter []byte) {
	for _, key := range randomKeys(rng, 100) {
		want := policy.MayContain(filter, key)
		require.Equal(t, want, LevelDB.MayContain(filter, key), "filter %x, key %x", filter, key)
		require.Equal(t, want, LevelDB.Of(filter).MayContain(filter, key), "filter %x, key %x", filter, key)
		x := LevelDB.Explain(filter, key)
		require.Equal(t, want, x.MayContain)
		all := true
		for _, p := range x.Probes {
			require.Equal(t, filter[p.Bit/8]>>(p.Bit%8)&1 == 1, p.Set)
			all = all && p.Set
			if x.LineBits > 0 {
				require.Equal(t, x.Probes[0].Bit/x.LineBits, p.Bit/x.LineBits, "all in one line")
			}
		}
		if len(x.Probes) > 0 {
			require.Equal(t, all, want, "filter %x, key %x", filter, key)
		}
		if x.Fuse != nil {
			require.Equal(t, x.Fuse.Sum() == x.Fuse.Fingerprint, want, "filter %x, key %x", filter, key)
		}
		s, measured := LevelDB.Measure(filter)
		require.Equal(t, len(x.Probes) > 0 || x.Fuse != nil, measured, "filter %x", filter)
		require.Equal(t, x.Fuse != nil, s.Cells != nil)
	}
}

// Any bytes are answered as package policy answers them: of random lengths, with ends that are nearly those of filters.
func TestAnyBytesAreAnsweredAsThePolicyDoes(t *testing.T) {
	rng := seeded(t, 2)
	ends := [][]byte{{6, 1, 0x42}, {6, 2, 0x42}, {6, 0, 0x42}, {6, 1, 0x43}, {0, 1, 0x42}, {255, 1, 0x42}, {1, 1, 0x42}, {8, 1, 0x46}, {6}, {30}, {31}, {0}, {0xff}, {}}
	of := map[Encoding]int{}
	for _, n := range []int{0, 1, 2, 3, 4, 8, 63, 64, 65, 1279, 1280, 1281, 1343, 1344, 1345, 1408, 6400} {
		for _, end := range ends {
			for range 3 {
				filter := make([]byte, n)
				rng.Read(filter)
				for i := range filter {
					filter[i] |= byte(rng.Int()) // dense, so that keys pass
				}
				filter = append(filter, end...)
				of[LevelDB.Of(filter)]++
				requireAnswers(t, rng, filter)
			}
		}
	}
	for range 300 { // layouts whose cells often take just the bytes that there are
		segments, log, width := rng.Intn(3), rng.Intn(6), []int{8, 12, 16, 10}[rng.Intn(4)]
		filter := make([]byte, (segments+2)<<log*width/8+rng.Intn(20)/18+8)
		rng.Read(filter)
		filter = binary.LittleEndian.AppendUint32(filter, uint32(segments))
		filter = append(filter, byte(log), byte(width), 1, 0x46)
		of[LevelDB.Of(filter)]++
		requireAnswers(t, rng, filter)
	}
	require.Greater(t, of[LevelDBBloom], 100)
	require.Greater(t, of[BinaryFuse], 100)
	require.Greater(t, of[BlockedBloom], 100)
	require.Greater(t, len(of), 10, "and unknown ones")
}

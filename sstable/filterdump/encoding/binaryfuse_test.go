package encoding

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

func fuseOf(t testing.TB, bitsPerKey float64, keys [][]byte) []byte {
	p, err := policy.NewBinaryFuse(bitsPerKey)
	require.NoError(t, err)
	return p.AppendFilter(nil, keys)
}

// fuseEnd is what follows the cells of a binary fuse filter.
func fuseEnd(seed uint64, segments uint32, log, width, version byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	b = binary.LittleEndian.AppendUint32(b, segments)
	return append(b, log, width, version, 0x46)
}

// The worked example of package policy's description, in a filter that has no other key.
func TestBinaryFuseExample(t *testing.T) {
	filter := append(make([]byte, 12800), 0xc1, 0x5c, 0x02, 0x89, 0xec, 0x2d, 0x0a, 0x91, 0x17, 0, 0, 0, 9, 8, 1, 0x46)
	key := []byte("hello")
	layout := Cells{Number: 12800, Segment: 512, Width: 8, Seed: 0x910a2dec89025cc1}
	x := LevelDB.Explain(filter, key)
	require.Equal(t, Explanation{
		Hash: 0x9555e8555c62dcfd, HashBits: 64,
		Note: "with the seed 0x910a2dec89025cc1 it is 0x04ffb62a42784a17; 12800 cells of 8 bits, 512 in a segment",
		Fuse: &FuseProbes{Cells: layout, Fingerprint: 0x3d, Probes: [3]FuseProbe{{229, 0}, {635, 0}, {1266, 0}}},
	}, x)
	require.Zero(t, x.Fuse.Sum())

	filter[229], filter[635], filter[1266] = 0x31, 0x0e, 0x02
	x = LevelDB.Explain(filter, key)
	require.Equal(t, [3]FuseProbe{{229, 0x31}, {635, 0x0e}, {1266, 0x02}}, x.Fuse.Probes)
	require.EqualValues(t, 0x3d, x.Fuse.Sum())
	require.True(t, x.MayContain)

	s, ok := LevelDB.Measure(filter)
	require.True(t, ok)
	require.Equal(t, Stats{Cells: &layout, FPP: 1.0 / 256}, s)
}

// What Explain shows, from the description of the format, is what package policy's code does: a key's cells decide, each of
// their bits, and no others.
func TestBinaryFuseCells(t *testing.T) {
	rng := seeded(t, 1)
	for _, c := range []struct {
		bitsPerKey float64
		n, width   int
	}{{12, 1000, 8}, {11, 5000, 8}, {9.6, 100_000, 8}, {18, 1000, 12}, {16.5, 5000, 12}, {24, 1000, 16}, {22, 5000, 16}, {20, 50_000, 16}} {
		keys := randomKeys(rng, c.n)
		filter := fuseOf(t, c.bitsPerKey, keys)
		require.Equal(t, BinaryFuse, LevelDB.Of(filter))
		requireAnswers(t, rng, filter)
		for i, key := range keys {
			x := LevelDB.Explain(filter, key)
			require.True(t, x.MayContain)
			require.Equal(t, c.width, x.Fuse.Width)
			require.Equal(t, x.Fuse.Fingerprint, x.Fuse.Sum())
			segment := x.Fuse.Probes[0].Cell / x.Fuse.Segment
			for j, p := range x.Fuse.Probes {
				require.Equal(t, segment+int64(j), p.Cell/x.Fuse.Segment)
			}
			if i > 50 {
				continue
			}
			changed := func(bit int64) bool {
				filter[bit/8] ^= 1 << (bit % 8)
				defer func() { filter[bit/8] ^= 1 << (bit % 8) }()
				may := policy.MayContain(filter, key)
				require.Equal(t, may, LevelDB.Explain(filter, key).MayContain)
				return !may
			}
			width := int64(c.width)
			for _, p := range x.Fuse.Probes {
				for bit := range width {
					require.True(t, changed(p.Cell*width+bit), "%d keys, key %x, cell %d, bit %d", c.n, key, p.Cell, bit)
				}
			}
			for range 20 {
				bit := rng.Int63n(x.Fuse.Number * width)
				mine := false
				for _, p := range x.Fuse.Probes {
					mine = mine || bit/width == p.Cell
				}
				require.Equal(t, mine, changed(bit), "%d keys, key %x, bit %d", c.n, key, bit)
			}
		}
	}
}

// The layout is that of the description for so many keys, which nothing in the filter counts.
func TestBinaryFuseMeasures(t *testing.T) {
	rng := seeded(t, 2)
	for _, n := range []int{1000, 3000, 12_345, 60_000} {
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = randomKey(rng)
		}
		for width, bitsPerKey := range map[int]float64{8: 11.6, 12: 18, 16: 24} {
			filter := fuseOf(t, bitsPerKey, keys)
			e := math.Floor(2.25 + math.Log(float64(n))/math.Log(3.33))
			capacity := math.Round(float64(n) * max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(float64(n))))
			cells := math.Exp2(e) * math.Ceil(capacity/math.Exp2(e))
			s, ok := LevelDB.Measure(filter)
			require.True(t, ok)
			require.EqualValues(t, cells, s.Cells.Number, "%d keys", n)
			require.Contains(t, []int64{1 << int(e), 1 << int(e-1)}, s.Cells.Segment, "some attempts take half as large ones")
			require.Equal(t, *s.Cells, LevelDB.Explain(filter, keys[0]).Fuse.Cells)
			require.Equal(t, Stats{Cells: s.Cells, FPP: math.Exp2(-float64(width))}, s, "no bits, and no number of keys")
			require.Equal(t, width, s.Cells.Width)
			require.Equal(t, binary.LittleEndian.Uint64(filter[len(filter)-16:]), s.Cells.Seed)
		}
	}
}

func TestBinaryFuseOddFilters(t *testing.T) {
	filter := func(cells int, end ...byte) []byte { return append(make([]byte, cells), end...) }
	const name, length = "binary fuse, version 1", "its length does not fit: every key may be contained"
	for _, c := range []struct {
		filter     []byte
		name, note string
	}{
		{filter(0, 1, 0x46), name, length},
		{filter(13, 1, 0x46), name, length},
		{filter(0, fuseEnd(1, 1, 2, 8, 1)...), name, length},
		{filter(11, fuseEnd(1, 1, 2, 8, 1)...), name, length},
		{filter(13, fuseEnd(1, 1, 2, 8, 1)...), name, length},
		{filter(12, fuseEnd(1, 1, 2, 12, 1)...), name, length},
		{filter(12, fuseEnd(1, 1<<32-1, 18, 16, 1)...), name, length},
		{filter(12, fuseEnd(1, 1, 2, 0, 1)...), name, "its fingerprints have 0 bits, and not 8, 12 or 16: every key may be contained"},
		{filter(15, fuseEnd(1, 1, 2, 10, 1)...), name, "its fingerprints have 10 bits, and not 8, 12 or 16: every key may be contained"},
		{filter(48, fuseEnd(1, 1, 2, 32, 1)...), name, "its fingerprints have 32 bits, and not 8, 12 or 16: every key may be contained"},
		{filter(6, fuseEnd(1, 1, 1, 8, 1)...), name, "its segments have 2^1 cells, and not 2^2 to 2^18: every key may be contained"},
		{filter(3<<19, fuseEnd(1, 1, 19, 8, 1)...), name, "its segments have 2^19 cells, and not 2^2 to 2^18: every key may be contained"},
		{filter(12, fuseEnd(1, 1, 64, 8, 1)...), name, "its segments have 2^64 cells, and not 2^2 to 2^18: every key may be contained"},
		{filter(8, fuseEnd(1, 0, 2, 8, 1)...), name, "it has no segments: every key may be contained"},
		{filter(12, fuseEnd(1, 1, 2, 8, 2)...), "binary fuse of unknown version 2", "binary fuse of unknown version 2: every key may be contained"},
		{filter(12, fuseEnd(1, 1, 2, 8, 0)...), "binary fuse of unknown version 0", "binary fuse of unknown version 0: every key may be contained"},
	} {
		key := []byte("hello")
		e := LevelDB.Of(c.filter)
		require.Equal(t, c.name, e.String())
		require.Equal(t, e, e.Of(c.filter))
		_, unknown := e.(Unknown)
		require.Equal(t, c.name != name, unknown)
		require.True(t, e.MayContain(c.filter, key), c.note)
		require.True(t, policy.MayContain(c.filter, key), c.note)
		x := LevelDB.Explain(c.filter, key)
		require.Equal(t, c.note, x.Note)
		require.True(t, x.MayContain)
		require.Nil(t, x.Fuse)
		require.Equal(t, unknown, x.HashBits == 0)
		_, ok := LevelDB.Measure(c.filter)
		require.False(t, ok)
		_, ok = BinaryFuse.Measure(c.filter)
		require.False(t, ok)
	}
	// The smallest and the largest that fit, of each width.
	for _, width := range []byte{8, 12, 16} {
		for _, log := range []byte{2, 18} {
			fits := filter(3<<log*int(width)/8, fuseEnd(1, 1, log, width, 1)...)
			s, ok := LevelDB.Measure(fits)
			require.True(t, ok)
			require.Equal(t, Cells{Number: 3 << log, Segment: 1 << log, Width: int(width), Seed: 1}, *s.Cells)
			require.False(t, LevelDB.MayContain(fits, []byte("hello")))
		}
	}
	// A filter that another encoding reads has all keys, whichever is asked.
	fuse, blocked := filter(12, fuseEnd(1, 1, 2, 8, 1)...), []byte{0, 0, 6, 1, 0x42}
	key := []byte("hello")
	require.False(t, LevelDB.MayContain(fuse, key))
	require.False(t, LevelDB.MayContain(blocked, key))
	require.True(t, BlockedBloom.MayContain(fuse, key))
	require.True(t, BinaryFuse.MayContain(blocked, key))
	require.True(t, BinaryFuse.MayContain(bytes.Repeat([]byte{0}, 20), key))
}

// Random keys pass as often as FPP says, give or take five standard errors, and it is the same for any number of keys.
func TestBinaryFuseFPP(t *testing.T) {
	for _, c := range []struct {
		n, asked   int
		bitsPerKey float64
	}{{1000, 400_000, 12}, {20_000, 400_000, 10.5}, {1000, 1_000_000, 18}, {20_000, 1_000_000, 15.5}, {1000, 2_000_000, 24}} {
		asked := c.asked
		if testing.Short() {
			asked /= 10
		}
		rng := seeded(t, int64(c.n))
		filter := fuseOf(t, c.bitsPerKey, randomKeys(rng, c.n))
		s, ok := LevelDB.Measure(filter)
		require.True(t, ok)
		require.NotNil(t, s.Cells)
		passed := 0
		for range asked {
			if LevelDB.MayContain(filter, randomKey(rng)) {
				passed++
			}
		}
		expected := s.FPP * float64(asked)
		require.InDelta(t, expected, float64(passed), 5*math.Sqrt(expected)+1, fmt.Sprintf("%d keys at %v bits", c.n, c.bitsPerKey))
	}
}

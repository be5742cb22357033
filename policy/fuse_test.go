package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example of the package comment, each figure of it.
func TestFuseComment(t *testing.T) {
	keys := make([][]byte, 10_000)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key %d", i)
	}
	keys[5000] = []byte("hello")
	filter := mustFuse(t, 10.5).AppendFilter(nil, keys)
	trailer := filter[len(filter)-16:]
	seed, segments := binary.LittleEndian.Uint64(trailer), binary.LittleEndian.Uint32(trailer[8:])
	e, w := trailer[12], trailer[13]
	h := keyHash(keys[5000])
	x := fuseMix(h, seed)
	c0, c1, c2 := fuseGeometry{segments, e}.places().of(x)

	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	text := strings.ReplaceAll(strings.Join(strings.Fields(string(comment)), " "), " // ", " ")
	require.Contains(t, text, fmt.Sprintf(" n = 10000, e = %d, S = %d, capacity = %d, segments = %d, cells = %d, w = %d at 10.5 bits per key "+
		"H = 0x%016x, seed = 0x%016x, x = 0x%016x c0 = %d, c1 = %d, c2 = %d, fingerprint = 0x%02x the last 16 bytes: % x ",
		e, 1<<e, fuseCapacity(10_000), segments, len(filter[16:])*8/int(w), w, h, seed, x, c0, c1, c2, byte(x^x>>32), trailer))
	require.Equal(t, byte(x^x>>32), filter[c0]^filter[c1]^filter[c2])
}

// The bits per key that cells of 8 bits take at most, from so many keys on, and for round numbers of keys.
func TestFuseSizes(t *testing.T) {
	for _, c := range []struct {
		from  int
		least float64
	}{{1_000, 12.75}, {10_000, 10.67}, {20_000, 1.28 * 8}, {100_000, 9.62}, {500_000, 1.16 * 8}, {1_000_000, 9.10}} {
		most := 0.0
		for n := c.from; n < max(4*c.from, 200_000); n++ {
			most = max(most, 8*float64(fuseGeometryOf(n).cells())/float64(n))
		}
		require.Less(t, most, c.least, "from %d keys on", c.from)
		require.Greater(t, most, c.least-0.05, "from %d keys on", c.from)
	}
	for n, want := range map[int]string{1_000: "11.26", 20_000: "9.83", 100_000: "9.50", 1_000_000: "9.04"} {
		require.Equal(t, want, fmt.Sprintf("%.2f", 8*float64(fuseGeometryOf(n).cells())/float64(n)))
	}
}

// Of absent keys 2^-w pass, whatever the keys.
func TestFuseRate(t *testing.T) {
	rng := seeded(t, 100)
	const n = 50_000
	for _, shape := range []struct {
		name string
		key  func(i int) []byte // even ones are present
	}{
		{"decimal", func(i int) []byte { return fmt.Appendf(nil, "user%016d", i) }},
		{"big-endian", func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }},
		{"random", func(int) []byte { return binary.LittleEndian.AppendUint64(nil, rng.Uint64()) }},
	} {
		present := make([][]byte, n)
		for i := range present {
			present[i] = shape.key(2 * i)
		}
		for _, c := range []struct {
			bitsPerKey float64
			width      int
			asked      int
		}{{12, 8, 200_000}, {19, 12, 400_000}, {28, 16, 2_000_000}} {
			filter := mustFuse(t, c.bitsPerKey).AppendFilter(nil, present)
			require.Equal(t, byte(c.width), filter[len(filter)-3])
			if raceEnabled {
				c.asked /= 10 // which take as long
			}
			found := 0
			for i := range c.asked {
				if MayContain(filter, shape.key(2*i+1)) {
					found++
				}
			}
			want := math.Ldexp(float64(c.asked), -c.width)
			require.InDelta(t, want, found, 5*math.Sqrt(want), "%s, %d bits: found %d of %d", shape.name, c.width, found, c.asked)
		}
	}
}

// Any bytes as filter: no panic, and one answer of all readers, that of the format's text. Any keys: none is lost, and the
// filter is that of the text.
func FuzzFuse(f *testing.F) {
	f.Add(12.0, uint16(1500), uint64(1), []byte("one two three"))
	f.Add(19.4, uint16(700), uint64(2), append(make([]byte, 12), fuseTrailerOf(7, 1, 2, 8)...))
	f.Add(28.2, uint16(400), uint64(3), append(make([]byte, 18), fuseTrailerOf(1<<63, 1, 2, 12)...))
	f.Add(9.0, uint16(5), uint64(4), append(make([]byte, 24), fuseTrailerOf(math.MaxUint64, 1, 2, 16)...))
	f.Add(10.7, uint16(65535), uint64(5), fuseTrailerOf(0, math.MaxUint32, 2, 8))
	f.Fuzz(func(t *testing.T, bitsPerKey float64, n uint16, seed uint64, filter []byte) {
		b, err := NewBinaryFuse(math.Mod(math.Abs(bitsPerKey), 40))
		if err != nil {
			t.Skip()
		}
		rng := rand.New(rand.NewSource(int64(seed)))
		keys := randomKeys(rng, int(n)%6000)
		requireAnswers(t, filter, append(keys[:min(len(keys), 50):min(len(keys), 50)], filter))
		if filter = slices.Clone(filter); len(filter) > 0 {
			filter[len(filter)-1] = binaryFuseByte
			requireAnswers(t, filter, append(keys[:min(len(keys), 50):min(len(keys), 50)], filter))
		}

		made := requireWriters(t, "made", b, keys)
		require.True(t, bytes.Equal(referenceFuse(b.blocked.bitsPerKey, keys), made))
		requireAnswers(t, made, [][]byte{filter})
	})
}

package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/FastFilter/xorfilter"
	"github.com/stretchr/testify/require"
)

func mustFuse(t testing.TB, bitsPerKey float64, opts ...Option) *BinaryFuse {
	b, err := NewBinaryFuse(bitsPerKey, opts...)
	require.NoError(t, err)
	return b
}

// libraryFuse is the library's filter of distinct hashes.
func libraryFuse[T uint8 | uint16](hashes []uint64) xorfilter.BinaryFuse[T] {
	var library xorfilter.BinaryFuseBuilder
	filter, err := xorfilter.BuildBinaryFuse[T](&library, hashes)
	if err != nil {
		panic(err) // no test has so many bad hashes
	}
	return filter
}

// encodeFuse writes what the library made, of which it keeps the lowest bits, as the package comment says.
func encodeFuse(made xorfilter.BinaryFuse[uint16], width int) []byte {
	filter := make([]byte, len(made.Fingerprints)*width/8)
	for i, cell := range made.Fingerprints {
		for j := range width {
			p := i*width + j
			filter[p/8] |= byte(cell>>j&1) << (p % 8)
		}
	}
	filter = binary.LittleEndian.AppendUint64(filter, made.Seed)
	filter = binary.LittleEndian.AppendUint32(filter, made.SegmentCount)
	return append(filter, byte(bits.Len32(made.SegmentLength)-1), byte(width), 1, 0x46)
}

// referenceFuse makes a filter from the text, but for the contents of its cells, which are the library's.
func referenceFuse(bitsPerKey float64, keys [][]byte) []byte {
	hashes := hashesOf(keys)
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	size := int(referenceBits(bitsPerKey, len(hashes))+7) / 8
	if size <= 1280 {
		return referenceBlockedOf(bitsPerKey, hashes)
	}
	made := libraryFuse[uint16](hashes)
	for _, w := range []struct {
		width int
		below float64
	}{{16, 28.25}, {12, 19.5}, {8, 12.25}} {
		if len(made.Fingerprints)*w.width/8 <= size {
			if bitsPerKey >= w.below {
				break
			}
			return encodeFuse(made, w.width)
		}
	}
	return referenceBlockedOf(bitsPerKey, hashes)
}

// referenceFuseMayContain follows the package comment word for word. REQUIRES: the last byte is 0x46.
func referenceFuseMayContain(filter, key []byte) bool {
	n := len(filter) - 16
	if n < 0 {
		return true
	}
	seed, segments := binary.LittleEndian.Uint64(filter[n:]), binary.LittleEndian.Uint32(filter[n+8:])
	e, w, version := filter[n+12], int(filter[n+13]), filter[n+14]
	if version != 1 || w != 8 && w != 12 && w != 16 || e < 2 || e > 18 || segments == 0 {
		return true
	}
	size := uint64(1) << e
	if (uint64(segments)+2)*size*uint64(w) != 8*uint64(n) {
		return true
	}
	x := fuseMix(keyHash(key), seed)
	product := new(big.Int).SetUint64(x)
	product.Mul(product, new(big.Int).SetUint64(uint64(segments)*size))
	c0 := product.Rsh(product, 64).Uint64()
	c1 := (c0 + size) ^ x>>18%size
	c2 := (c0 + 2*size) ^ x%size
	for j := range w {
		parity := byte(x>>j^x>>(32+j)) & 1
		for _, c := range []uint64{c0, c1, c2} {
			p := c*uint64(w) + uint64(j)
			parity ^= filter[p/8] >> (p % 8) & 1
		}
		if parity != 0 {
			return false
		}
	}
	return true
}

// unmix is the inverse of fuseMix: a key with this hash has the cells and the fingerprint of x.
func unmix(x, seed uint64) uint64 {
	inverse := func(a uint64) uint64 {
		b := a // right in the lowest 3 bits, and in twice as many after each step
		for range 5 {
			b *= 2 - a*b
		}
		return b
	}
	x ^= x >> 33
	x *= inverse(0xc4ceb9fe1a85ec53)
	x ^= x >> 33
	x *= inverse(0xff51afd7ed558ccd)
	x ^= x >> 33
	return x - seed
}

func TestUnmix(t *testing.T) {
	rng := seeded(t, 90)
	for range 1000 {
		x, seed := rng.Uint64(), rng.Uint64()
		require.Equal(t, x, fuseMix(unmix(x, seed), seed))
	}
}

func randomHashes(rng *rand.Rand, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	return hashes
}

// keyHashesOf returns what a builder has after keys of these hashes, which no test could find.
func keyHashesOf(hashes []uint64) *keyHashes {
	var k keyHashes
	for _, h := range hashes {
		k.add(h)
	}
	return &k
}

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
	c0, c1, c2 := fuseGeometry{segments, e}.cellsOf().key(x)

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

// The bytes of the library's filters, and its answers about present and absent hashes.
func TestFuseAgainstLibrary(t *testing.T) {
	rng := seeded(t, 91)
	for _, n := range []int{930, 1_500, 4_376, 30_000} {
		keys := absentKeys(2 * n) // which differ
		present := keys[:n]
		hashes := hashesOf(keys)
		rng.Shuffle(n, func(i, j int) { present[i], present[j] = present[j], present[i] })

		filter := mustFuse(t, 12.2).AppendFilter(nil, present)
		made8 := libraryFuse[uint8](slices.Clone(hashes[:n]))
		require.True(t, bytes.Equal(made8.Fingerprints, filter[:len(filter)-fuseTrailer]), "%d keys", n)
		for i, answer := range requireSameAnswers(t, "8 bits", filter, keys) {
			require.Equal(t, made8.Contains(keyHash(keys[i])), answer)
		}

		filter = mustFuse(t, 28).AppendFilter(nil, present)
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

// solveFuse makes a filter of hashes, however few they are.
func solveFuse(t *testing.T, hashes []uint64, width int) []byte {
	w := new(fuseWorkshop)
	var seeds fuseSeeds
	for attempt := 1; attempt <= fuseAttempts; attempt++ {
		seed := seeds.next()
		mixed := w.deal(keyHashesOf(hashes), seed)
		g := fuseGeometryOf(len(mixed)).at(attempt, len(mixed))
		if cells, ok := w.solve(mixed, g); ok {
			return appendFuse(nil, cells, seed, g, width)
		}
	}
	require.Fail(t, "no filter", "%d hashes", len(hashes))
	return nil
}

// Filters of few keys, which builders do not make.
func TestFuseOfFewKeys(t *testing.T) {
	rng := seeded(t, 92)
	for n := 1; n <= 300; n += 1 + n/30 {
		keys := randomKeys(rng, 3*n)
		for i := range keys { // distinct
			keys[i] = append(keys[i], byte(i), byte(i>>8))
		}
		present := keys[:n]
		hashes := hashesOf(present)
		made := libraryFuse[uint16](slices.Clone(hashes))
		hashes = append(hashes, hashes[:rng.Intn(n)]...)
		for _, width := range []int{8, 12, 16} {
			filter := solveFuse(t, hashes, width)
			require.Equal(t, encodeFuse(made, width), filter, "%d keys", n)
			require.NotContains(t, requireSameAnswers(t, "few keys", filter, present), false)
			requireAnswers(t, unaligned(rng, filter), keys)
		}
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
	for _, bitsPerKey := range []float64{0.01, 9, 9.7, 10, 11, 12.2, 12.25, 14, 15.5, 19.4, 19.5, 22, 25, 28.2, 28.25, 50} {
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
	require.Equal(t, referenceFuse(12.2, keys[:2_000]), first, "Finish gives it away")
}

// fillFuse fills a payload at random, and makes it say yes to some of the keys.
func fillFuse(rng *rand.Rand, filter []byte, keys [][]byte) {
	n := len(filter) - fuseTrailer
	rng.Read(filter[:n])
	g := fuseGeometry{binary.LittleEndian.Uint32(filter[n+8:]), filter[n+12]}
	width := int(filter[n+13])
	for _, key := range keys {
		x := fuseMix(keyHash(key), binary.LittleEndian.Uint64(filter[n:]))
		c0, c1, c2 := g.cellsOf().key(x)
		cells := []uint64{c0, c1, c2}
		own := cells[rng.Intn(3)]
		for j := range width {
			parity := byte(x>>j^x>>(32+j)) & 1
			for _, c := range cells {
				p := c*uint64(width) + uint64(j)
				parity ^= filter[p/8] >> (p % 8) & 1
			}
			p := own*uint64(width) + uint64(j)
			filter[p/8] ^= parity << (p % 8)
		}
	}
}

func fuseTrailerOf(seed uint64, segments uint32, e, width byte) []byte {
	trailer := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, seed), segments)
	return append(trailer, e, width, fuseVersion, binaryFuseByte)
}

// Geometries that no writer chooses among them, with seeds and contents at random.
func TestFuseReadersAgainstReference(t *testing.T) {
	rng := seeded(t, 95)
	yes := 0
	for _, width := range []byte{8, 12, 16} {
		for e := byte(2); e <= 18; e++ {
			for range 6 {
				segments := 1 + uint32(rng.Intn(max(1, 1<<13>>e)))
				trailer := fuseTrailerOf(rng.Uint64(), segments, e, width)
				filter := append(make([]byte, (int(segments)+2)<<e*int(width)/8), trailer...)
				keys := append(randomKeys(rng, 2*hashGroup), make([]byte, rng.Intn(301)))
				fillFuse(rng, filter, keys[:rng.Intn(hashGroup)])
				requireAnswers(t, unaligned(rng, filter), keys)
				for _, key := range keys {
					if MayContain(filter, key) {
						yes++
					}
				}
			}
		}
	}
	require.Greater(t, yes, 3*17*6*10)
}

// A key is found with the right contents of its three cells, and lost if any bit of them is another. Other bits do not
// matter.
func TestFuseEveryBitCounts(t *testing.T) {
	rng := seeded(t, 96)
	for _, width := range []byte{8, 12, 16} {
		for _, g := range []fuseGeometry{{1, 2}, {2, 2}, {7, 3}, {1, 5}, {100, 4}} {
			for range 20 {
				key := make([]byte, rng.Intn(301))
				rng.Read(key)
				keys := slices.Repeat([][]byte{key}, fewKeys) // one group
				filter := append(make([]byte, g.cells()*uint64(width)/8), fuseTrailerOf(rng.Uint64(), g.segments, g.log, width)...)
				fillFuse(rng, filter, keys[:1])
				n := len(filter) - fuseTrailer
				c0, c1, c2 := g.cellsOf().key(fuseMix(keyHash(key), binary.LittleEndian.Uint64(filter[n:])))
				ask := func(want bool) {
					for _, answer := range requireSameAnswers(t, "every bit", filter, keys) {
						require.Equal(t, want, answer, "key %x, %d bits per cell, %v", key, width, g)
					}
				}
				ask(true)
				step := 1 + rng.Intn(1+n/20)
				for p := rng.Intn(step); p < 8*n; p += step {
					cell := uint64(p) / uint64(width)
					filter[p/8] ^= 1 << (p % 8)
					if want := cell != c0 && cell != c1 && cell != c2; MayContain(filter, key) != want {
						ask(want)
					}
					filter[p/8] ^= 1 << (p % 8)
				}
				for _, c := range []uint64{c0, c1, c2} {
					for j := range uint64(width) {
						p := c*uint64(width) + j
						filter[p/8] ^= 1 << (p % 8)
						ask(false)
						filter[p/8] ^= 1 << (p % 8)
					}
				}
			}
		}
	}
}

// Everything that can be wrong with a trailer, and with the length of the cells.
func TestFuseMalformed(t *testing.T) {
	rng := seeded(t, 97)
	keys := randomKeys(rng, fewKeys+5)
	requireAll := func(filter []byte) {
		require.NotContains(t, requireSameAnswers(t, fmt.Sprintf("% x", filter[max(0, len(filter)-16):]), filter, keys), false)
	}
	for length := 2; length <= 40; length++ {
		for range 50 {
			filter := make([]byte, length)
			rng.Read(filter)
			filter[length-1] = 0x46
			requireAnswers(t, filter, keys)
			if length < 16+12 { // no room for three segments of four cells
				requireAll(filter)
			}
		}
	}
	for _, width := range []byte{8, 12, 16} {
		good := append(make([]byte, 7*8*int(width)/8), fuseTrailerOf(rng.Uint64(), 5, 3, width)...)
		fillFuse(rng, good, keys[:3])
		requireAnswers(t, good, keys)
		require.Contains(t, requireSameAnswers(t, "good", good, keys), false)
		n := len(good) - fuseTrailer
		for i := range fuseTrailer {
			for value := range 256 {
				filter := slices.Clone(good)
				filter[n+i] = byte(value)
				requireAnswers(t, filter, keys)
				if i >= 8 && i < 15 && filter[n+i] != good[n+i] { // segments to version
					requireAll(filter)
				}
			}
		}
		for cut := range good {
			requireAnswers(t, good[:cut], keys)
			requireAnswers(t, good[cut:], keys)
			if cut > 0 && len(good)-cut >= 2 {
				requireAll(good[cut:])
			}
		}
		requireAll(append([]byte{0}, good...))

		// Numbers of cells and of bits that are the right ones to anybody who forgets what is above 32 bits.
		for e := byte(2); e <= 18; e++ {
			for payload := range 64 {
				for _, above := range []uint64{1 << 32, 1 << 35, 1 << 38} { // cells, bits, bits of many cells
					segments := (above+uint64(payload)*8/uint64(width))>>e - 2
					if segments <= math.MaxUint32 {
						requireAll(append(make([]byte, payload), fuseTrailerOf(0, uint32(segments), e, width)...))
					}
				}
			}
		}
	}

	// Lengths that would fit, but for the number of bits per cell, or of cells per segment, or of segments.
	for width := range 256 {
		if width != 8 && width != 12 && width != 16 {
			requireAll(append(make([]byte, 3*8*width/8), fuseTrailerOf(0, 1, 3, byte(width))...))
		}
	}
	for _, width := range []byte{8, 12, 16} {
		for _, e := range []byte{0, 1, 19, 20} {
			requireAll(append(make([]byte, 4<<e*int(width)/8), fuseTrailerOf(0, 2, e, width)...))
		}
		for e := byte(2); e <= 18; e++ {
			requireAll(append(make([]byte, 2<<e*int(width)/8), fuseTrailerOf(0, 0, e, width)...))
		}
	}
}

// hostile returns pairs of hashes that share all three cells in a filter of n keys: one for each of the first attempts to
// make it, so that these fail.
func hostile(rng *rand.Rand, n, failures int) (hashes []uint64) {
	var seeds fuseSeeds
	for attempt := 1; attempt <= failures; attempt++ {
		seed, cells := seeds.next(), fuseGeometryOf(n).at(attempt, n).cellsOf()
		for found := false; !found; {
			x := rng.Uint64()
			y := x ^ 1<<40 // a bit on which only the first cell depends, and hardly
			x0, x1, x2 := cells.key(x)
			y0, y1, y2 := cells.key(y)
			if x0 == y0 && x1 == y1 && x2 == y2 {
				hashes = append(hashes, unmix(x, seed), unmix(y, seed))
				found = true
			}
		}
	}
	return hashes
}

// Somebody who knows the seeds may choose keys for which the first ones are not right. The library, which tries more of
// them, says which is the first one that is; if it is not one of the writer's 64, the filter is blocked Bloom.
func TestFuseHostileHashes(t *testing.T) {
	rng := seeded(t, 98)
	made := map[int]int{} // attempts with which filters were made
	for _, bitsPerKey := range []float64{12, 19, 28} {
		p := mustFuse(t, bitsPerKey)
		for _, n := range []int{927, 2_000, 5_000} {
			for _, failures := range []int{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 62, 63, 64} {
				hashes := hostile(rng, n, failures)
				hashes = append(hashes, randomHashes(rng, n-len(hashes))...)
				rng.Shuffle(n, func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
				filter := p.appendFilter([]byte("before"), keyHashesOf(hashes))[len("before"):]

				library := libraryFuse[uint16](slices.Clone(hashes))
				attempt := 1
				for seeds := fuseSeeds(0); seeds.next() != library.Seed; {
					attempt++
				}
				require.Greater(t, attempt, failures)
				made[attempt]++
				want := encodeFuse(library, p.width(n))
				if attempt > 64 {
					want = referenceBlockedOf(bitsPerKey, hashes)
				}
				require.True(t, bytes.Equal(want, filter), "%v bits per key, %d keys, attempt %d", bitsPerKey, n, attempt)
			}
		}
	}
	for _, attempt := range []int{1, 2, 3, 4, 5, 6, 7, 10, 63, 64, 65} {
		require.Positive(t, made[attempt], "filters made at attempt %d", attempt)
	}
}

// 63 keys may share a cell, and more may not.
func TestFuseCrowdedCells(t *testing.T) {
	rng := seeded(t, 99)
	const n = 2_000
	g := fuseGeometryOf(n)
	var seeds fuseSeeds
	first := seeds.next()
	for which := range 3 {
		for _, crowd := range []int{2, 10, 62, 63, 64, 65, 66, 127, 128, 129, 192, 256} {
			var hashes []uint64
			var cell uint64
			for len(hashes) < crowd {
				x := rng.Uint64()
				cells := [3]uint64{}
				cells[0], cells[1], cells[2] = g.cellsOf().key(x)
				if len(hashes) == 0 {
					cell = cells[which]
				}
				if cells[which] == cell {
					hashes = append(hashes, unmix(x, first))
				}
			}
			hashes = append(hashes, randomHashes(rng, n-crowd)...)
			filter := mustFuse(t, 12).appendFilter(nil, keyHashesOf(hashes))
			require.Equal(t, encodeFuse(libraryFuse[uint16](slices.Clone(hashes)), 8), filter, "%d keys in a cell", crowd)
			if crowd > 63 {
				require.NotEqual(t, first, binary.LittleEndian.Uint64(filter[len(filter)-fuseTrailer:]), "%d keys in a cell", crowd)
			}
		}
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
		if len(filter) > 0 {
			filter[len(filter)-1] = binaryFuseByte
			requireAnswers(t, filter, append(keys[:min(len(keys), 50):min(len(keys), 50)], filter))
		}

		made := requireWriters(t, "made", b, keys)
		require.True(t, bytes.Equal(referenceFuse(b.blocked.bitsPerKey, keys), made))
		requireAnswers(t, made, [][]byte{filter})
	})
}

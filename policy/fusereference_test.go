package policy

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"math/rand"
	"slices"
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
	blocked := referenceBlockedOf(bitsPerKey, hashes)
	bits, column := big.NewRat(int64(8*(len(blocked)-3)), 1), 0
	if len(blocked)-3 > 1280 {
		column = 1
	}
	made := libraryFuse[uint16](hashes)
	for _, w := range []struct {
		width int
		from  [2]*big.Rat
	}{{16, [2]*big.Rat{big.NewRat(95, 4), big.NewRat(113, 4)}}, {12, [2]*big.Rat{big.NewRat(71, 4), big.NewRat(39, 2)}},
		{8, [2]*big.Rat{big.NewRat(93, 8), big.NewRat(49, 4)}}} {
		if len(made.Fingerprints)*w.width/8 <= size {
			if bits.Cmp(new(big.Rat).Mul(w.from[column], big.NewRat(int64(len(hashes)), 1))) >= 0 {
				break
			}
			return encodeFuse(made, w.width)
		}
	}
	return blocked
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
		if k.full() {
			k.grow()
		}
		k.put(h)
	}
	return &k
}

// fillFuse fills a payload at random, and makes it say yes to some of the keys.
func fillFuse(rng *rand.Rand, filter []byte, keys [][]byte) {
	n := len(filter) - fuseTrailer
	rng.Read(filter[:n])
	g := fuseGeometry{binary.LittleEndian.Uint32(filter[n+8:]), filter[n+12]}
	width := int(filter[n+13])
	for _, key := range keys {
		x := fuseMix(keyHash(key), binary.LittleEndian.Uint64(filter[n:]))
		c0, c1, c2 := g.places().of(x)
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

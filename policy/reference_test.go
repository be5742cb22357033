package policy

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Plain readers and writers that follow FORMAT.md, and how the tests compare with them.

// referenceHash, referenceFilter and referenceMayContain follow FORMAT.md word for word:
// byte by byte, with big numbers for the sizes and a division per probe.
func referenceHash(key []byte) uint32 {
	h := uint32(0xbc9f1d34) ^ uint32(len(key))*0xc6a4a793
	for len(key) >= 4 {
		w := uint32(key[0]) + uint32(key[1])<<8 + uint32(key[2])<<16 + uint32(key[3])<<24
		h = (h + w) * 0xc6a4a793
		h = h ^ h>>16
		key = key[4:]
	}
	if len(key) > 0 {
		for i, b := range key {
			h += uint32(b) << (8 * i)
		}
		h = h * 0xc6a4a793
		h = h ^ h>>24
	}
	return h
}

// referenceBits returns ceil(n * bitsPerKey), of the exact product if bitsPerKey is whole, else of
// the float64 next to it.
func referenceBits(bitsPerKey float64, n int) uint64 {
	precision := uint(53)
	if bitsPerKey == math.Trunc(bitsPerKey) {
		precision = 128
	}
	product := new(big.Float).SetPrec(precision).SetFloat64(bitsPerKey)
	product.Mul(product, new(big.Float).SetInt64(int64(n)))
	nbits, _ := product.Uint64() // rounds down
	if !product.IsInt() {
		nbits++
	}
	return nbits
}

func referenceFilter(bitsPerKey float64, keys [][]byte) []byte {
	nbits := max(64, referenceBits(bitsPerKey, len(keys)))
	for nbits%8 != 0 {
		nbits++
	}
	k := math.Floor(bitsPerKey * 0.69)
	if k < 1 {
		k = 1
	} else if k > 30 {
		k = 30
	}
	return referenceBloom(nbits, int(k), keys)
}

// referenceBloom returns the filter of so many bits, a multiple of 8.
func referenceBloom(nbits uint64, k int, keys [][]byte) []byte {
	filter := make([]byte, nbits/8+1)
	filter[nbits/8] = byte(k)
	for _, key := range keys {
		h := referenceHash(key)
		delta := h>>17 | h<<15
		for range k {
			p := uint64(h) % nbits
			filter[p/8] |= 1 << (p % 8)
			h += delta
		}
	}
	return filter
}

func referenceMayContain(filter, key []byte) bool {
	if len(filter) < 2 {
		return false
	}
	k, nbits := filter[len(filter)-1], uint64(len(filter)-1)*8
	switch {
	case k == 0x73: // package ribbon compares its reader with an independent one
		return ribbon.Contains(filter, ribbon.Hash(key))
	case k > 30:
		return true
	}
	h := referenceHash(key)
	delta := h>>17 | h<<15
	for range k {
		p := uint64(h) % nbits
		if filter[p/8]>>(p%8)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// references build filters of each kind as FORMAT.md says.
var references = map[string]func(bitsPerKey float64, keys [][]byte) []byte{
	"bloom": referenceFilter, "tuned": referenceTuned, "ribbon": referenceRibbon,
}

// referenceTuned raises the size until none of the factors that WithTuning names divides it.
func referenceTuned(bitsPerKey float64, keys [][]byte) []byte {
	filter := referenceFilter(bitsPerKey, keys)
	k, size := int(filter[len(filter)-1]), int64(len(filter)-1)
	for new(big.Int).GCD(nil, nil, big.NewInt(size), big.NewInt(2*3*5*17)).Int64() != 1 {
		size++
	}
	return referenceBloom(8*uint64(size), k, keys)
}

// referenceRibbon builds with a new builder. Package ribbon compares its filters with those of an
// independent implementation.
func referenceRibbon(bitsPerKey float64, keys [][]byte) []byte {
	b := ribbon.NewBuilder(&builder.Setting{BitsPerKey: bitsPerKey}, false)
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(nil)
}

// readers are policies of all encodings, with settings that no filter of the tests has.
var readers = []*Policy{
	testkit.Must(NewBloom(7)), testkit.Must(NewRibbon(8.77, WithCounters())),
}

// allKinds are the kinds of filter that policies build: "tuned" is LevelDB's with WithTuning.
var allKinds = []string{"bloom", "tuned", "ribbon"}

// of returns a policy of a kind.
func of(kind string, bitsPerKey float64, opts ...Option) (*Policy, error) {
	switch kind {
	case "ribbon":
		return NewRibbon(bitsPerKey, opts...)
	case "tuned":
		opts = append(opts, WithTuning())
	}
	return NewBloom(bitsPerKey, opts...)
}

// ask returns what MayContain answers, and requires that each policy and the plain reader answer it
// too.
func ask(t testing.TB, filter, key []byte) bool {
	may := MayContain(filter, key)
	for _, p := range readers {
		if p.MayContain(filter, key) != may {
			require.Fail(t, "readers disagree", "MayContain %v, %v %v, key %x, filter %.300x",
				may, p, !may, key, filter)
		}
	}
	if referenceMayContain(filter, key) != may {
		require.Fail(t, "wrong answer", "%v, key %x, filter %.300x", may, key, filter)
	}
	return may
}

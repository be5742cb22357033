package policy

import (
	"math"
	"math/big"
	"slices"
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

// ribbonTrailer appends the trailer of a ribbon filter of one shard, with the right check byte.
func ribbonTrailer(payload []byte, slots, seed int) []byte {
	word := slots%1024 + 1024*(seed%64)
	filter := append(payload, byte(word), byte(word>>8), 0, ribbon.Encoding)
	correct(filter)
	return filter
}

// correct makes the check byte of a ribbon filter right.
func correct(filter []byte) {
	if len(filter) < 2 {
		return
	}
	check := byte(uint32(len(filter)) * 0x9e3779b1 >> 24)
	for _, b := range filter[max(0, len(filter)-8):] {
		check ^= b
	}
	filter[len(filter)-2] ^= check
}

// readers returns policies of all encodings, with settings that no filter of the tests has.
func readers() []*Policy {
	return []*Policy{testkit.Must(NewBloom(7)), testkit.Must(NewRibbon(8.77))}
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

// requireAnswers looks up every key with each reader, and compares with the plain reader.
func requireAnswers(t *testing.T, filter []byte, keys [][]byte) {
	t.Helper()
	all := readers()
	answers := make([]bool, 1+len(all))
	for i, key := range keys {
		want := referenceMayContain(filter, key)
		answers[0] = MayContain(filter, key)
		for j, p := range all {
			answers[1+j] = p.MayContain(filter, key)
		}
		if slices.Contains(answers, !want) {
			require.Fail(t, "wrong answer",
				"want %v, not %v: by MayContain, and by each policy (key %d of %d)\n"+
					"key %x\nfilter of %d bytes, the last ones % x",
				want, answers, i, len(keys), key, len(filter),
				filter[max(0, len(filter)-3):])
		}
	}
}

// requireSameAnswers looks up every key with each reader, and returns their one answer.
func requireSameAnswers(t *testing.T, name string, filter []byte, keys [][]byte) []bool {
	answers := make([]bool, len(keys))
	for i, key := range keys {
		answers[i] = MayContain(filter, key)
		for _, p := range readers() {
			if p.MayContain(filter, key) != answers[i] {
				require.Fail(t, "readers disagree", "%s, key %x: MayContain %v, %T %v",
					name, key, answers[i], p, !answers[i])
			}
		}
	}
	return answers
}

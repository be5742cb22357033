package policy

import (
	"bytes"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// The readers and writers of this package against the plain ones of bloom_test.go.

// requireAnswers asks each reader about every key, and compares with the plain reader.
func requireAnswers(t *testing.T, filter []byte, keys [][]byte) {
	t.Helper()
	all := readers()
	out := make([]bool, len(keys)+2)
	for i := range len(keys) + 1 {
		out[i] = true // what it contains does not matter
	}
	MayContainMany(filter, keys, out)
	require.Equal(t, []bool{true, false}, out[len(keys):], "beyond the keys")
	answers := make([]bool, 2+len(all))
	for i, key := range keys {
		want := referenceMayContain(filter, key)
		answers[0], answers[1] = out[i], MayContain(filter, key)
		for j, p := range all {
			answers[2+j] = p.MayContain(filter, key)
		}
		if slices.Contains(answers, !want) {
			require.Fail(t, "wrong answer",
				"want %v, not %v: among many, alone, and by each policy (key %d of %d)\n"+
					"key %x\nfilter of %d bytes, the last ones % x",
				want, answers, i, len(keys), key, len(filter),
				filter[max(0, len(filter)-3):])
		}
	}
}

// unaligned returns a copy of b at any place in memory, with other bytes before and after it.
func unaligned(rng *rand.Rand, b []byte) []byte {
	memory := make([]byte, 16+len(b)+16)
	rng.Read(memory)
	start := rng.Intn(17)
	copy(memory[start:], b)
	return memory[start : start+len(b)]
}

func TestHashOfEveryLength(t *testing.T) {
	rng := policytest.Rand(t, 20)
	memory := make([]byte, 300)
	for length := range 201 {
		for start := range 16 {
			rng.Read(memory)
			key := memory[start : start+length]
			require.Equal(t, referenceHash(key), Hash(key), "key %x", key)
		}
	}
}

func TestHashKeys(t *testing.T) {
	rng := policytest.Rand(t, 21)
	check := func(keys [][]byte) {
		hashes := make([]uint32, len(keys))
		hashKeys(hashes, keys)
		for i, key := range keys {
			require.Equal(t, referenceHash(key), hashes[i], "key %d of %d: %x", i, len(keys), key)
		}
	}
	for length := range 201 {
		keys := make([][]byte, 4+rng.Intn(8))
		for i := range keys {
			keys[i] = make([]byte, length)
			rng.Read(keys[i])
			keys[i] = unaligned(rng, keys[i])
		}
		check(keys)
		odd := rng.Intn(4) // one of four differs in length
		keys[odd] = append(keys[odd][:length:length], 0xff)
		check(keys)
	}
	for n := range 300 {
		check(policytest.Keys(rng, n))
	}
}

// Filters of 1 to 300 bytes and some larger ones, with every last byte, as full as to let half of
// the keys pass.
func TestReadersAgainstReference(t *testing.T) {
	rng := policytest.Rand(t, 22)
	for last := range 256 {
		set := math.Pow(0.5, 1/max(float64(last), 1)) // the k-th root of a half
		threshold := uint32(set * math.MaxUint32)
		for i := range 30 {
			size := 1 + rng.Intn(300)
			if i == 0 {
				size = 1 + rng.Intn(100_000)
			}
			filter := make([]byte, size+1)
			for bit := range 8 * size {
				if rng.Uint32() < threshold {
					filter[bit/8] |= 1 << (bit % 8)
				}
			}
			filter[size] = byte(last)
			keys := policytest.Keys(rng, rng.Intn(3*hashGroup))
			if rng.Intn(2) == 0 { // of one length
				length := rng.Intn(201)
				for i := range keys {
					keys[i] = make([]byte, length)
					rng.Read(keys[i])
				}
			}
			requireAnswers(t, unaligned(rng, filter), keys)
		}
	}
	for size := range 2 {
		requireAnswers(t, make([]byte, size), policytest.Keys(rng, 10))
	}
}

// A key is found if its k bits are set and no others are, and lost if any of them is missing and
// all others are set.
func TestEveryProbeCounts(t *testing.T) {
	rng := policytest.Rand(t, 23)
	for k := 1; k <= maxProbes; k++ {
		for range 20 {
			size := 1 + rng.Intn(2000)
			key := make([]byte, rng.Intn(201))
			rng.Read(key)
			filter := make([]byte, size+1)
			filter[size] = byte(k)
			requireProbes(t, filter, key)
		}
	}
}

// requireProbes takes a filter without any bit.
func requireProbes(t *testing.T, filter, key []byte) {
	h := referenceHash(key)
	delta := h>>17 | h<<15
	nbits := uint64(len(filter)-1) * 8
	var probes []uint64
	for range filter[nbits/8] {
		probes = append(probes, uint64(h)%nbits)
		h += delta
	}
	for _, p := range probes {
		filter[p/8] |= 1 << (p % 8)
	}
	// The same key, more often than a group has room.
	keys := make([][]byte, hashGroup+10)
	for i := range keys {
		keys[i] = key
	}
	ask := func(without any) {
		out := make([]bool, len(keys))
		MayContainMany(filter, keys, out)
		out = append(out, MayContain(filter, key))
		if slices.Contains(out, without != nil) {
			require.Fail(t, "wrong answer", "%v about key %x; %d bytes, without bit %v", out, key,
				len(filter), without)
		}
	}
	ask(nil)
	for _, p := range probes {
		filter[p/8] &^= 1 << (p % 8)
		ask(p)
		filter[p/8] |= 1 << (p % 8)
	}
	for _, p := range probes {
		filter[p/8] = 0
	}
}

// Arrays around 2^31, 2^32 and 2^33 bits, of which only the touched pages exist.
func TestHugeFilters(t *testing.T) {
	if !*large {
		t.Skip("large: run with -large")
	}
	rng := policytest.Rand(t, 24)
	for _, size := range []int{1<<28 - 1, 1 << 28, 1<<28 + 1, 1<<29 - 1, 1 << 29, 1<<29 + 1,
		1<<29 + 4096, 1<<30 - 1, 1 << 30, 1<<30 + 1} {
		filter := make([]byte, size+1)
		for _, k := range []byte{1, 4, 5, 6, 7, 30} {
			filter[size] = k
			for range 20 {
				key := make([]byte, rng.Intn(201))
				rng.Read(key)
				requireProbes(t, filter, key)
			}
		}
	}
}

// Every k, by the builder and by AppendFilter, into memory that is dirty and anywhere.
func TestWritersAgainstReference(t *testing.T) {
	rng := policytest.Rand(t, 25)
	for bitsPerKey := 1; bitsPerKey <= 45; bitsPerKey++ {
		b := policytest.Must(NewBloom(float64(bitsPerKey)))
		builder := b.NewBuilder()
		for range 20 {
			keys := policytest.Keys(rng, rng.Intn(600))
			if rng.Intn(2) == 0 {
				for i := range keys {
					keys[i] = make([]byte, 16)
					rng.Read(keys[i])
				}
			}
			for _, key := range keys {
				builder.Add(unaligned(rng, key))
			}
			want := referenceFilter(float64(bitsPerKey), keys)
			dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)+10))
			prefix := rng.Intn(len(dirty) + 1)
			require.Equal(t, want, builder.Finish(dirty[:prefix])[prefix:],
				"%d bits per key, %d keys", bitsPerKey, len(keys))

			dirty = bytes.Repeat([]byte{0xff}, 2*len(want)+10)
			got := b.AppendFilter(dirty[:prefix], keys)
			require.Equal(t, want, got[prefix:], "%d bits per key, %d keys", bitsPerKey, len(keys))
			require.Equal(t, bytes.Repeat([]byte{0xff}, prefix), got[:prefix])
			requireAnswers(t, want, append(keys, policytest.Keys(rng, 50)...))
		}
	}
}

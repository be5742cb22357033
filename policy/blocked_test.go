package policy

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// blockedTable is the table of FORMAT.md: from so many bits per key on, so many probes.
var blockedTable = []struct {
	from float64
	k    int
}{
	{0, 1}, {2.5, 2}, {4, 3}, {5.5, 4}, {7.5, 5}, {9, 6}, {11, 7}, {13, 8},
	{15.5, 9}, {18, 10}, {20.5, 11}, {23.5, 12}, {27, 13}, {30.5, 14}, {35, 15}, {40, 16},
}

// blockedProbesOf returns the numbers of the bits of a key with hash h, counted through the whole
// payload. It and the four functions after it follow FORMAT.md word for word. They share
// the hash with this package, which the vectors check.
func blockedProbesOf(h uint64, nbytes, k int) (probes []uint64) {
	first, nbits := uint64(0), 8*uint64(nbytes)
	if nbytes > 1280 {
		i := new(big.Int).SetUint64(h >> 32)
		i.Mul(i, big.NewInt(int64(nbytes/64)))
		first, nbits = i.Rsh(i, 32).Uint64()*512, 512
	}
	x := h % (1 << 32)
	for range k {
		probes = append(probes, first+x*nbits/(1<<32))
		x = x * 0x9e3779b9 % (1 << 32)
	}
	return probes
}

func referenceBlockedSize(bitsPerKey float64, n int) (nbytes int) {
	nbytes = max(1, int(referenceBits(bitsPerKey, n)+7)/8)
	for nbytes > 1280 && nbytes%64 != 0 {
		nbytes++
	}
	return nbytes
}

func referenceBlocked(bitsPerKey float64, keys [][]byte) []byte {
	return referenceBlockedOf(bitsPerKey, hashesOf(keys))
}

func referenceBlockedOf(bitsPerKey float64, hashes []uint64) []byte {
	nbytes := referenceBlockedSize(bitsPerKey, len(hashes))
	k := 0
	for _, row := range blockedTable {
		if bitsPerKey >= row.from {
			k = row.k
		}
	}
	filter := referenceTrailer(make([]byte, nbytes), byte(k))
	for _, h := range hashes {
		for _, p := range blockedProbesOf(h, nbytes, k) {
			filter[p/8] |= 1 << (p % 8)
		}
	}
	return filter
}

// referenceTrailer appends the trailer of a blocked Bloom filter to its payload.
func referenceTrailer(payload []byte, k byte) []byte {
	l := uint64(len(payload))
	check := byte(l * 0x9e3779b1 % (1 << 32) / (1 << 24))
	return append(payload, k, check^k^0x62, 0x62)
}

// REQUIRES: the last byte is 0x62, and one byte or more before it.
func referenceBlockedMayContain(filter, key []byte) bool {
	nbytes := len(filter) - 3
	if nbytes < 1 || nbytes > 1280 && nbytes%64 != 0 {
		return true
	}
	if !bytes.Equal(filter, referenceTrailer(bytes.Clone(filter[:nbytes]), filter[nbytes])) {
		return true
	}
	for _, p := range blockedProbesOf(keyHash(key), nbytes, int(filter[nbytes])) {
		if filter[p/8]>>(p%8)&1 == 0 {
			return false
		}
	}
	return true
}

// The example and the table of FORMAT.md, each figure of them.
func TestBlockedExample(t *testing.T) {
	key := []byte("hello")
	h := keyHash(key)
	var xs []string
	for x, j := uint32(h), 0; j < 6; j++ {
		xs = append(xs, fmt.Sprintf("0x%08x", x))
		x *= 0x9e3779b9
	}
	probes := strings.Fields(fmt.Sprint(blockedProbesOf(h, 2, 6)))
	list := strings.Trim(strings.Join(probes, ", "), "[]")
	from, ks := "bitsPerKey from", "k"
	for _, row := range blockedTable {
		from += fmt.Sprintf(" %v", row.from)
		ks += fmt.Sprintf(" %d", row.k)
	}
	filter := policytest.Must(NewBlockedBloom(10)).AppendFilter(nil, [][]byte{key})

	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(format)), " ")
	require.Contains(t, text, fmt.Sprintf(" H = 0x%016x x = %s probes: bits %s filter: % x ",
		h, strings.Join(xs, ", "), list, filter))
	require.Contains(t, text, " "+from+" "+ks+" ")
}

// The table of probes from its model: the least k whose false positives are at most 1.03 times
// those of the best k, for settings in steps of half a bit. The number of keys in a line of 512
// bits is Poisson distributed; the share of the bits that t probes set is taken by its mean and
// variance, so that E[share^k] = mean^k * (1 + k(k-1)/2 * variance/mean^2).
func TestBlockedProbes(t *testing.T) {
	const nbits = 512.0
	rate := func(bitsPerKey float64, k int) float64 {
		mean := nbits / bitsPerKey
		sum, weight := 0.0, math.Exp(-mean)
		// an empty line has no false positives
		for keys := 1.0; keys < mean+12*math.Sqrt(mean)+30; keys++ {
			weight *= mean / keys
			probes := keys * float64(k)
			// one given bit, two given bits
			clear1, clear2 := math.Pow(1-1/nbits, probes), math.Pow(1-2/nbits, probes)
			occupied := nbits * (1 - clear1)
			variance := nbits*(nbits-1)*clear2 + nbits*clear1 - nbits*nbits*clear1*clear1
			each := math.Pow(occupied/nbits, float64(k))
			sum += weight * each * (1 + float64(k*(k-1))/2*variance/(occupied*occupied))
		}
		return sum
	}
	for bitsPerKey := 1.0; bitsPerKey <= 40; bitsPerKey += 0.5 {
		var rates []float64 // rates[k-1]
		for k := range 24 {
			rates = append(rates, rate(bitsPerKey, k+1))
		}
		least := slices.Min(rates)
		k := 1 + slices.IndexFunc(rates, func(r float64) bool { return r <= 1.03*least })
		require.Equal(t, k, blockedProbes(bitsPerKey), "%v bits per key", bitsPerKey)
	}
	// Between the steps and beyond them.
	for i, row := range blockedTable {
		require.Equal(t, row.k, blockedProbes(max(row.from, 0.001)))
		if i > 0 {
			require.Equal(t, row.k-1, blockedProbes(math.Nextafter(row.from, 0)))
		}
	}
	require.Equal(t, 16, blockedProbes(1<<30))
}

// 8 bits per key give every length.
func TestBlockedSizes(t *testing.T) {
	for _, bitsPerKey := range []float64{1, 8, 9.5, 10, 13.7} {
		b := policytest.Must(NewBlockedBloom(bitsPerKey))
		for n := range 3000 {
			require.Equal(t, uint64(referenceBlockedSize(bitsPerKey, n)+3), b.FilterSize(n),
				"%v bits per key, %d keys", bitsPerKey, n)
		}
	}
}

// The sizes of filters that no test can build.
func TestBlockedSizeIn64Bits(t *testing.T) {
	for _, c := range []struct {
		n          int
		bitsPerKey float64
		payload    uint64
	}{
		{1 << 30, 8, 1 << 30}, // 2^33 bits
		// the first n at 10 bits per key whose bits pass 2^32
		{429496730, 10, 1<<29 + 64},
		{math.MaxInt32, 9.5, 2550136832},      // ceil(20401094647 / 8) = 2550136831, rounded up
		{math.MaxInt32, 8, math.MaxInt32 + 1}, // rounded up beyond an int of 32 bits
		{math.MaxInt32, 1000, 268435455936},   // MaxInt32 * 125 = 268435455875, rounded up
	} {
		b := policytest.Must(NewBlockedBloom(c.bitsPerKey))
		require.Equal(t, c.payload+3, b.FilterSize(c.n), "%d keys, %v bits", c.n, c.bitsPerKey)
	}
}

// Every k and keys of 0 to 300 bytes, in one line and in many, by the builder and by AppendFilter,
// into memory that is dirty and anywhere.
func TestBlockedWritersAgainstReference(t *testing.T) {
	rng := policytest.Rand(t, 51)
	for _, bitsPerKey := range []float64{0.01, 1, 2, 2.5, 3.3, 4, 5.5, 7.5, 9, 9.99, 10, 11, 13,
		13.7, 15.5, 18, 20.5, 23.5, 27, 30.5, 35, 40, 100.25, 1000} {
		b := policytest.Must(NewBlockedBloom(bitsPerKey))
		builder := b.NewBuilder()
		counts := []int{0, 1, 2, rng.Intn(100), 301}
		// as near to these as whole keys come
		for _, bytes := range []float64{1279, 1280, 1281, 1344, 1345} {
			counts = append(counts, int(min(8*bytes/bitsPerKey, 5000)))
		}
		for _, n := range counts {
			keys := policytest.Keys(rng, n)
			if n == 301 {
				for length := range keys {
					keys[length] = make([]byte, length)
					rng.Read(keys[length])
				}
			}
			for _, key := range keys {
				builder.Add(unaligned(rng, key))
			}
			want := referenceBlocked(bitsPerKey, keys)
			dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)+10))
			prefix := rng.Intn(len(dirty) + 1)
			require.True(t, bytes.Equal(want, builder.Finish(dirty[:prefix])[prefix:]),
				"%v bits per key, %d keys", bitsPerKey, n)

			dirty = bytes.Repeat([]byte{0xff}, 2*len(want)+10)
			got := b.AppendFilter(dirty[:prefix], keys)
			require.True(t, bytes.Equal(want, got[prefix:]), "%v bits per key, %d keys", bitsPerKey,
				n)
			require.Equal(t, bytes.Repeat([]byte{0xff}, prefix), got[:prefix])
			requireAnswers(t, want, append(keys, policytest.Keys(rng, 50)...))
		}
	}
}

// fillHalf sets as many bits of a payload as let about half of the keys pass that have k probes.
func fillHalf(rng *rand.Rand, payload []byte, k int) {
	threshold := uint32(math.Pow(0.5, 1/max(float64(k), 1)) * math.MaxUint32)
	for bit := range 8 * len(payload) {
		if rng.Uint32() < threshold {
			payload[bit/8] |= 1 << (bit % 8)
		}
	}
}

// Payloads of all lengths up to 200 bytes and of some around 1280, for every k that a byte can
// hold: those too that no writer uses.
func TestBlockedReadersAgainstReference(t *testing.T) {
	rng := policytest.Rand(t, 52)
	for k := range 256 {
		sizes := []int{1 + k%200, 1 + rng.Intn(200), 200 + rng.Intn(1081), 1280, 1344,
			64 * (21 + rng.Intn(100))}
		for _, size := range sizes {
			filter := referenceTrailer(make([]byte, size), byte(k))
			fillHalf(rng, filter[:size], k)
			keys := policytest.Keys(rng, rng.Intn(2*hashGroup))
			keys = append(keys, make([]byte, rng.Intn(301)))
			requireAnswers(t, unaligned(rng, filter), keys)
		}
	}
}

// The filter and the keys at every place within a line of memory.
func TestBlockedAlignments(t *testing.T) {
	rng := policytest.Rand(t, 53)
	b := policytest.Must(NewBlockedBloom(10))
	for _, n := range []int{20, 1100} {
		keys := policytest.Keys(rng, n)
		filter := referenceBlocked(10, keys)
		for offset := range 65 {
			memory := bytes.Repeat([]byte{byte(rng.Int())}, offset+len(filter)+64)
			place := memory[offset : offset+len(filter)]
			copy(place, filter)
			requireAnswers(t, place, append(keys[:n:n], policytest.Keys(rng, 100)...))

			for i := range place {
				place[i] = 0xff
			}
			require.True(t, bytes.Equal(filter, b.AppendFilter(memory[offset:offset], keys)),
				"offset %d", offset)
		}
	}
}

// A key is found if its k bits are set and no others are, and lost if any of them is missing and
// all others are set.
func TestBlockedEveryProbeCounts(t *testing.T) {
	rng := policytest.Rand(t, 54)
	for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 64} {
		for _, size := range []int{1, 1 + rng.Intn(1280), 1280, 1344, 64 * (21 + rng.Intn(100))} {
			key := make([]byte, rng.Intn(301))
			rng.Read(key)
			probes := blockedProbesOf(keyHash(key), size, k)
			keys := make([][]byte, hashGroup+10) // more than a group
			for i := range keys {
				keys[i] = key
			}
			ask := func(filter []byte, want bool) {
				for _, answer := range requireSameAnswers(t, "every probe", filter, keys) {
					require.Equal(t, want, answer, "key %x, k %d, payload of %d bytes", key, k,
						size)
				}
			}
			none := referenceTrailer(make([]byte, size), byte(k))
			all := referenceTrailer(bytes.Repeat([]byte{0xff}, size), byte(k))
			for _, p := range probes {
				none[p/8] |= 1 << (p % 8)
			}
			ask(none, true)
			for _, p := range probes {
				all[p/8] ^= 1 << (p % 8)
				ask(all, false)
				all[p/8] ^= 1 << (p % 8)
			}
			ask(all, true)
		}
	}
}

// Any bytes as filter: no panic, and one answer of all readers, that of the format's text. Any
// keys: none is lost.
func FuzzBlocked(f *testing.F) {
	f.Add(10.0, uint8(3), []byte("one two three"), referenceTrailer([]byte{0xff, 0xfe}, 6))
	f.Add(20.0, uint8(0), bytes.Repeat([]byte{0x80, 0xff}, 1000), []byte{6, 0x62, 0x62})
	f.Add(0.01, uint8(15), []byte{}, referenceTrailer(bytes.Repeat([]byte{0xf7}, 1344), 255))
	f.Add(199.9, uint8(7), []byte("key"), referenceTrailer(bytes.Repeat([]byte{0xff}, 1281), 5))
	f.Add(2.2, uint8(0), bytes.Repeat([]byte{7}, 40), []byte{0x62})
	f.Fuzz(func(t *testing.T, bitsPerKey float64, keyLen uint8, data, filter []byte) {
		b, err := NewBlockedBloom(math.Mod(math.Abs(bitsPerKey), 200))
		if err != nil {
			t.Skip()
		}
		keys := [][]byte{data}
		for n := int(keyLen)%16 + 1; len(data) >= n && len(keys) < 3000; data = data[n:] {
			keys = append(keys, data[:n])
		}
		requireAnswers(t, filter, keys)

		made := b.AppendFilter([]byte("before"), keys)[len("before"):]
		require.Equal(t, referenceBlocked(b.bitsPerKey, keys), made)
		builder := b.NewBuilder()
		for _, key := range keys {
			builder.Add(key)
		}
		require.Equal(t, made, builder.Finish(nil))
		require.NotContains(t, requireSameAnswers(t, "made", made, keys), false)
		requireAnswers(t, made, [][]byte{filter})
	})
}

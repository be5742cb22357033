package policy

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// The example of FORMAT.md: each step, and that the text states these very values.
func TestWorkedExample(t *testing.T) {
	key := []byte("hello")
	h := Hash(key)
	require.Equal(t, uint32(0xf795964e), h)
	require.Equal(t, uint32(0xcb277bca), probeDelta(h))
	var probes []string
	for j := range uint32(6) {
		probes = append(probes, fmt.Sprint((h+j*probeDelta(h))%64))
	}
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, [][]byte{key})

	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	require.Contains(t, string(format), "h = 0xf795964e, delta = 0xcb277bca\n")
	require.Contains(t, string(format), "probes: bits "+strings.Join(probes, ", ")+"\n")
	require.Contains(t, string(format), fmt.Sprintf("filter: % x\n", filter))
	require.Equal(t, "014000010410400006", hex.EncodeToString(filter)) // as C++ LevelDB writes it
}

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
	case k == 0x72: // package ribbon compares its reader with an independent one
		return ribbon.Contains(filter, keyHash(key))
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

func TestFractionsOfABitPerKey(t *testing.T) {
	rng := policytest.Rand(t, 1)
	for _, bitsPerKey := range []float64{math.SmallestNonzeroFloat64, 0.5, 1.45, 1.5, 2.2, 2.9, 9.5,
		9.75, 13.37, 43.4, 43.5, 100.25} {
		b := policytest.Must(NewBloom(bitsPerKey))
		for _, n := range []int{0, 1, 6, 7, 8, 40, 63, 64, 65, 1000, 5001} {
			keys := policytest.Keys(rng, n)
			require.Equal(t, referenceFilter(bitsPerKey, keys), b.AppendFilter(nil, keys),
				"%v bits, %d keys", bitsPerKey, n)
		}
	}
}

// The sizes of filters that no test can build, against C++'s formula in big numbers.
func TestSizeIn64Bits(t *testing.T) {
	for _, c := range []struct {
		n          int
		bitsPerKey float64
		want       uint64
	}{
		{4, 1 << 29, 1<<28 + 1},    // 2^31 bits
		{4, 1 << 30, 1<<29 + 1},    // 2^32 bits
		{1 << 30, 8, 1<<30 + 1},    // 2^33 bits
		{429496730, 10, 1<<29 + 2}, // the first n at 10 bits per key whose bits pass 2^32
		{math.MaxInt32, 1 << 30, uint64(math.MaxInt32)<<27 + 1},
		{math.MaxInt32, 1<<30 - 1, (uint64(math.MaxInt32)*(1<<30-1)+7)/8 + 1},
		{math.MaxInt32, 9.5, (20401094647+7)/8 + 1},
	} {
		b := newBloom(settings{name: Name, bitsPerKey: c.bitsPerKey}) // NewBloom refuses some
		require.Equal(t, c.want, b.FilterSize(c.n), "%d keys, %v bits", c.n, c.bitsPerKey)
		if c.want > math.MaxInt {
			require.PanicsWithValue(t,
				fmt.Sprintf("policy: a filter of %d keys at %v bits per key has %d bytes, "+
					"more than an int can express", c.n, c.bitsPerKey, c.want),
				func() { b.extend(nil, c.want, c.n) })
		}
	}
	// More bits than 2^64 do not wrap around.
	require.Greater(t, policytest.Must(NewBloom(2)).FilterSize(math.MaxInt), uint64(math.MaxInt/8))
}

func TestNumberOfProbes(t *testing.T) {
	for bitsPerKey, k := range map[float64]int{
		0.1: 1, 1: 1, 2: 1, 2.9: 2, 3: 2, 4: 2, 5: 3, 9.5: 6, 10: 6, 14: 9, 15: 10, 16: 11, 20: 13,
		43: 29, 44: 30, 45: 30, 372: 30, 1000: 30,
	} {
		require.Equal(t, k, policytest.Must(NewBloom(bitsPerKey)).k, "%v bits", bitsPerKey)
	}
}

// byteOf must agree with % for every h; the edges are the multiples of the number of bits.
func TestModulus(t *testing.T) {
	rng := policytest.Rand(t, 2)
	sizes := []int{1, 2, 3, 5, 7, 8, 9, 64, 1251, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1<<28 - 1, 1 << 28,
		1<<29 - 1, 1 << 29, 1<<29 + 1, 1 << 30, math.MaxInt32, math.MaxInt}
	for range 5000 {
		sizes = append(sizes, 1+rng.Intn(1<<(1+rng.Intn(30))))
	}
	for _, size := range sizes {
		m := newModulus(size)
		nbits := 8 * uint64(size)
		check := func(h uint64) {
			if h < 1<<32 && h%nbits/8 != m.byteOf(uint32(h)) {
				require.Equal(t, h%nbits/8, m.byteOf(uint32(h)), "bit %d of %d bytes", h, size)
			}
		}
		largest := (1<<32 - 1) / nbits
		for _, multiple := range []uint64{0, 1, 2, largest / 2, largest,
			rng.Uint64() % (largest + 1)} {
			for step := range uint64(18) { // 8 on either side: a byte
				check(multiple*nbits + step)
				check(multiple*nbits - step)
			}
		}
		check(1<<32 - 1)
		check(uint64(rng.Uint32()))
	}
}

func TestNewBloomRefusesMisuse(t *testing.T) {
	for _, bitsPerKey := range []float64{0, math.Copysign(0, -1), -1, -10, math.NaN(), math.Inf(1),
		math.Inf(-1), 1000.1, 1e9, math.MaxFloat64} {
		b, err := NewBloom(bitsPerKey)
		require.ErrorContains(t, err, "pass a number above 0 and at most 1000, ", "%v", bitsPerKey)
		require.Nil(t, b)
	}
	for _, name := range []string{"", "none", " a", "a ", "\ta", "a\nb", "a\rb", "a\u00a0",
		"rocksdb.BuiltinBloomFilter"} {
		b, err := NewBloom(10, WithName(name))
		require.ErrorContains(t, err, "pass ", "%q", name)
		require.Nil(t, b)
	}
}

func TestNilOptionIsRefused(t *testing.T) {
	_, err := NewBloom(10, nil)
	require.EqualError(t, err, "policy: an option is nil: leave it out")
}

// String has every setting, and leaves out the defaults.
func TestString(t *testing.T) {
	tuning, verify, name := WithTuning(0.05), WithVerify(), WithName(NameGoLevelDB)
	for want, p := range map[string]interface {
		fmt.Stringer
		BitsPerKey() float64
	}{
		"bloom:10":             policytest.Must(NewBloom(10)),
		"bloom:9.5":            policytest.Must(NewBloom(9.5, WithName(Name))),
		"bloom:10,tuning=0.05": policytest.Must(NewBloom(10, tuning)),
		"bloom:1000,tuning=0.05,verify,name=leveldb.BuiltinBloomFilter": policytest.Must(
			NewBloom(1000, name, verify, tuning)),
		"ribbon:16.25,verify":       policytest.Must(NewRibbon(16.25, verify)),
		"ribbon:7":                  policytest.Must(NewRibbon(7)),
		"ribbon:7,name=a, b=c,name": policytest.Must(NewRibbon(7, WithName("a, b=c,name"))),
	} {
		require.Equal(t, want, p.String())
		require.Equal(t, want, fmt.Sprint(p))
		number, _, _ := strings.Cut(want[strings.Index(want, ":")+1:], ",")
		require.Equal(t, number, fmt.Sprint(p.BitsPerKey()))
	}
	require.Equal(t, "<nil>", fmt.Sprint((*Bloom)(nil)))
}

func TestNames(t *testing.T) {
	require.Equal(t, "leveldb.BuiltinBloomFilter2", policytest.Must(NewBloom(10)).Name())
	require.Equal(t, "leveldb.BuiltinBloomFilter",
		policytest.Must(NewBloom(10, WithName(NameGoLevelDB))).Name())
	require.Equal(t, "my filters, 14 bits",
		policytest.Must(NewBloom(14, WithName("my filters, 14 bits"))).Name())
}

// A used builder builds what a fresh one does, appends after what dst contains, clears what lies
// beyond it, and keeps no reference to the memory of the keys.
func TestBuilderStartsOver(t *testing.T) {
	rng := policytest.Rand(t, 3)
	b := policytest.Must(NewBloom(10))
	used := b.NewBuilder()
	scratch := make([]byte, 40)
	for _, n := range []int{0, 1, 5000, 7, 0, 4096, 4097, 30, 12288} {
		keys := policytest.Keys(rng, n)
		for i, key := range keys {
			require.Equal(t, i, used.Len())
			used.Add(scratch[:copy(scratch, key)])
		}
		want := referenceFilter(10, keys)
		require.Equal(t, uint64(len(want)), b.FilterSize(n))

		dirty := bytes.Repeat([]byte{0xff}, rng.Intn(2*len(want)))
		prefix := rng.Intn(len(dirty) + 1)
		got := used.Finish(dirty[:prefix])
		require.Equal(t, append(bytes.Repeat([]byte{0xff}, prefix), want...), got, "%d keys", n)
		require.Zero(t, used.Len())

		require.Equal(t, want, b.AppendFilter(bytes.Repeat([]byte{0xff}, 2*len(want))[:0], keys))
	}
}

// Builders share memory through a pool: filters made side by side, some builders abandoned half
// way, must not mix.
func TestBuildersSideBySide(t *testing.T) {
	b := policytest.Must(NewBloom(10))
	var done sync.WaitGroup
	for worker := range int64(8) {
		done.Add(1)
		rng := policytest.Rand(t, 100+worker)
		go func() {
			defer done.Done()
			for range 20 {
				keys := policytest.Keys(rng, rng.Intn(10000))
				builder, abandoned := b.NewBuilder(), b.NewBuilder()
				for _, key := range keys {
					abandoned.Add(key)
					builder.Add(key)
				}
				filter := builder.Finish(nil)
				if !bytes.Equal(referenceFilter(10, keys), filter) {
					t.Errorf("worker %d: a filter of %d keys differs", worker, len(keys))
				}
				for _, key := range keys {
					if !b.MayContain(filter, key) {
						t.Errorf("worker %d: key %x is lost", worker, key)
					}
				}
			}
		}()
	}
	done.Wait()
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop what it is given")
	}
	b := policytest.Must(NewBloom(10))
	keys := policytest.Keys(policytest.Rand(t, 4), 10000)
	filter := b.AppendFilter(nil, keys)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, key := range keys {
			b.MayContain(filter, key)
		}
	}), "MayContain")
	dst := make([]byte, 0, len(filter))
	perTable := testing.AllocsPerRun(100, func() {
		builder := b.NewBuilder()
		for _, key := range keys {
			builder.Add(key)
		}
		builder.Finish(dst)
	})
	require.LessOrEqual(t, perTable, 5.0,
		"a new builder, 10,000 keys, warm pool: the builder and its list of chunks")
	builder := b.NewBuilder()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for _, key := range keys {
			builder.Add(key)
		}
		builder.Finish(dst)
	}), 1.0, "a used builder (a collection may empty the pool once)")
}

// Any bytes as filter and key: no panic, and the answer of the format's text.
func FuzzMayContain(f *testing.F) {
	for last := range 256 {
		f.Add([]byte{0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, byte(last)}, []byte("key"))
	}
	f.Add([]byte{}, []byte{})
	f.Add([]byte{6}, []byte{})
	f.Add([]byte{0xff, 1}, []byte{0xff, 0x80, 0})
	f.Add(ribbonTrailer([]byte{0xf7, 0xff, 0, 1, 2, 3, 4, 5}, 8, 0), []byte("key"))
	f.Fuzz(func(t *testing.T, filter, key []byte) {
		require.Equal(t, referenceMayContain(filter, key), MayContain(filter, key))
	})
}

// Any keys at any setting: the filter of the format's text, and no key lost.
func FuzzBuild(f *testing.F) {
	f.Add(10.0, uint8(3), []byte("one two three"))
	f.Add(0.01, uint8(1), bytes.Repeat([]byte{0x80, 0xff}, 300))
	f.Fuzz(func(t *testing.T, bitsPerKey float64, keyLen uint8, data []byte) {
		b, err := NewBloom(math.Mod(math.Abs(bitsPerKey), 200))
		if err != nil {
			t.Skip()
		}
		var keys [][]byte
		for n := int(keyLen)%16 + 1; len(data) >= n; data = data[n:] {
			keys = append(keys, data[:n])
		}
		filter := b.AppendFilter([]byte("before"), keys)
		require.Equal(t, referenceFilter(b.bitsPerKey, keys), filter[len("before"):])
		for _, key := range keys {
			require.True(t, b.MayContain(filter[len("before"):], key), "key %x is lost", key)
		}
	})
}

// The golden vectors have many such keys; these two, worked out from the format's text in Python,
// name the fault.
func TestHashTailIsUnsigned(t *testing.T) {
	require.Equal(t, uint32(0xf6e05531), Hash([]byte("k\xff")))     // signed: 0x4f4d5588
	require.Equal(t, uint32(0x57905d95), Hash([]byte("\xe9t\xe9"))) // signed: 0x1fe8cadd
	require.NotEqual(t, Hash(binary.LittleEndian.AppendUint32(nil, 0xff)), Hash([]byte{0xff}))
}

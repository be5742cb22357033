package encoding_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
)

// pebbleKeys returns n keys of 0 to 24 random bytes: every length modulo 4, and half of the last bytes above 0x7f.
func pebbleKeys(t testing.TB, seed int64, n int) [][]byte {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	rng := rand.New(rand.NewSource(seed))
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = make([]byte, i%25)
		rng.Read(keys[i])
	}
	return keys
}

// pebbleWrites returns Pebble's own filter of keys.
func pebbleWrites(bitsPerKey int, keys [][]byte) []byte {
	w := bloom.FilterPolicy(bitsPerKey).NewWriter(sstable.TableFilter)
	for _, key := range keys {
		w.AddKey(key)
	}
	return w.Finish(nil)
}

// pebbleReads returns Pebble's own answer.
func pebbleReads(filter, key []byte) bool {
	return bloom.FilterPolicy(10).MayContain(sstable.TableFilter, filter, key)
}

func TestPebbleBloomAnswersLikePebble(t *testing.T) {
	for _, n := range []int{1, 30, 3000} {
		for _, bits := range []int{1, 4, 10, 50} {
			t.Run(fmt.Sprintf("%d keys at %d bits", n, bits), func(t *testing.T) {
				keys := pebbleKeys(t, int64(n), 2*n)
				filter := pebbleWrites(bits, keys[:n])
				for i, key := range keys {
					got := encoding.PebbleBloom.MayContain(filter, key)
					require.Equal(t, pebbleReads(filter, key), got, "key %x", key)
					require.True(t, got || i >= n, "key %x is lost", key)
					requireExplained(t, filter, key)
				}
			})
		}
	}
}

// requireExplained compares what Explain shows with the filter's bits and with Pebble's answer.
func requireExplained(t *testing.T, filter, key []byte) {
	x := encoding.PebbleBloom.Explain(filter, key)
	require.Len(t, x.Probes, int(filter[len(filter)-5]))
	all := true
	for _, p := range x.Probes {
		require.Equal(t, filter[p.Bit/8]>>(p.Bit%8)&1 == 1, p.Set)
		all = all && p.Set
	}
	require.Equal(t, pebbleReads(filter, key), all, "key %x", key)
	require.Equal(t, all, x.MayContain)
}

// A filter of one key has those bits set that Explain shows, and no others: in a line as in many.
func TestPebbleBloomExplainsEveryBit(t *testing.T) {
	for _, key := range pebbleKeys(t, 1, 200) {
		for _, bits := range []int{10, 100, 20000} {
			filter := pebbleWrites(bits, [][]byte{key})
			x := encoding.PebbleBloom.Explain(filter, key)
			array := make([]byte, len(filter)-5)
			for _, p := range x.Probes {
				array[p.Bit/8] |= 1 << (p.Bit % 8)
			}
			require.Equal(t, filter[:len(array)], array, "key %x at %d bits", key, bits)

			lines := uint64(len(array) / 64)
			require.Equal(t, 32, x.HashBits)
			require.Equal(t, fmt.Sprintf("all probes lie in line %d of %d, which has 512 bits", x.Hash%lines, lines), x.Note)
		}
	}
}

// RocksDB has longer lines on some processors.
func TestPebbleBloomLongLines(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for _, lineBytes := range []int{64, 128, 256} {
		filter := make([]byte, 5*lineBytes+5)
		rng.Read(filter)
		for i := range filter[:5*lineBytes] {
			filter[i] |= byte(rng.Int()) // three of four bits are set
		}
		filter[5*lineBytes] = 3
		binary.LittleEndian.PutUint32(filter[5*lineBytes+1:], 5)
		for _, key := range pebbleKeys(t, 3, 500) {
			require.Equal(t, pebbleReads(filter, key), encoding.PebbleBloom.MayContain(filter, key))
			requireExplained(t, filter, key)
		}
		s, ok := encoding.PebbleBloom.Measure(filter)
		require.True(t, ok)
		require.EqualValues(t, 8*5*lineBytes, s.Bits)
	}
}

func TestPebbleBloomMalformed(t *testing.T) {
	filter := func(bytes int, k byte, lines uint32) []byte {
		return binary.LittleEndian.AppendUint32(append(make([]byte, bytes), k), lines)
	}
	for name, c := range map[string]struct {
		filter []byte
		may    bool
	}{
		"no bytes":                 {nil, false},
		"too short for a trailer":  {[]byte{1, 0, 0, 0}, false},
		"no lines, as Pebble":      {pebbleWrites(10, nil), false},
		"no lines, as RocksDB":     {filter(0, 6, 0), false},
		"no lines, one announced":  {filter(0, 6, 1), false},
		"lines but none announced": {filter(64, 6, 0), true},
		"fewer than announced":     {filter(64, 6, 2), true},
		"far fewer than announced": {filter(64, 6, math.MaxUint32), true},
		"a part of a line":         {filter(100, 6, 1), true},
		"lines of uneven size":     {filter(129, 6, 2), true},
		"lines of 96 bytes":        {filter(192, 6, 2), true},
		"lines of 32 bytes":        {filter(64, 6, 2), true},
		"no probes":                {filter(64, 0, 1), true},
		"RocksDB's reserve":        {filter(64, 128, 1), true},
		"RocksDB's ribbon":         {filter(64, 0xfe, 1), true},
		"RocksDB's newer Bloom":    {filter(64, 0xff, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range pebbleKeys(t, 4, 30) {
				require.Equal(t, c.may, encoding.PebbleBloom.MayContain(c.filter, key))
				x := encoding.PebbleBloom.Explain(c.filter, key)
				require.Equal(t, c.may, x.MayContain)
				require.Empty(t, x.Probes)
				if c.may {
					require.Equal(t, "not a Pebble Bloom filter: it may contain every key", x.Note)
				} else {
					require.Equal(t, "the filter has no keys", x.Note)
					require.False(t, pebbleReads(c.filter, key))
				}
			}
			_, ok := encoding.PebbleBloom.Measure(c.filter)
			require.False(t, ok)
		})
	}
}

func TestPebbleBloomMeasure(t *testing.T) {
	for _, bits := range []int{4, 10, 20} {
		const n = 20000
		keys := pebbleKeys(t, int64(bits), n)[1000:] // the short keys before would repeat
		for i := range keys {
			keys[i] = binary.BigEndian.AppendUint32(keys[i], uint32(i))
		}
		filter := pebbleWrites(bits, keys)
		s, ok := encoding.PebbleBloom.Measure(filter)
		require.True(t, ok)
		require.EqualValues(t, filter[len(filter)-5], s.K)
		require.EqualValues(t, 8*(len(filter)-5), s.Bits)
		require.InEpsilon(t, len(keys), s.Distinct, 0.008)

		const lineBits = 512
		lines := make([]float64, s.Bits/lineBits) // bits set in each
		total, fpp := 0.0, 0.0
		for bit := range int(s.Bits) {
			lines[bit/lineBits] += float64(filter[bit/8] >> (bit % 8) & 1)
		}
		for _, set := range lines {
			total += set
			fpp += math.Pow(set/lineBits, float64(s.K)) / float64(len(lines))
		}
		require.EqualValues(t, total, s.Set)
		require.InEpsilon(t, fpp, s.FPP, 1e-9)
		if bits <= 10 { // then the probes are nearly independent
			passed := 0
			const absent = 100000
			for i := range absent {
				if pebbleReads(filter, fmt.Appendf(nil, "absent%07d", i)) {
					passed++
				}
			}
			require.InEpsilon(t, float64(passed)/absent, s.FPP, 0.25)
		}
	}
}

// One full line cannot tell how many keys it has.
func TestPebbleBloomMeasureFullLine(t *testing.T) {
	filter := pebbleWrites(10, pebbleKeys(t, 5, 1000))
	copy(filter, bytes.Repeat([]byte{0xff}, 64))
	s, ok := encoding.PebbleBloom.Measure(filter)
	require.True(t, ok)
	require.True(t, math.IsInf(s.Distinct, 1))
	require.False(t, math.IsNaN(s.FPP))
	require.Less(t, s.FPP, 1.0)

	copy(filter, make([]byte, len(filter)-5))
	s, ok = encoding.PebbleBloom.Measure(filter)
	require.True(t, ok)
	require.Zero(t, s.Set)
	require.Zero(t, s.Distinct)
	require.Zero(t, s.FPP)
}

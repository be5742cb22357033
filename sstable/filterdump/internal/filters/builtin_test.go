package filters_test

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

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
)

// pebbleKeys returns n keys of 0 to 24 random bytes: of every length modulo 4, with half of the
// last bytes above 0x7f.
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

func TestBuiltinAnswersLikePebble(t *testing.T) {
	for _, n := range []int{1, 30, 3000} {
		for _, bits := range []int{1, 4, 10, 50} {
			t.Run(fmt.Sprintf("%d keys at %d bits", n, bits), func(t *testing.T) {
				keys := pebbleKeys(t, int64(n), 2*n)
				filter := pebbleWrites(bits, keys[:n])
				for i, key := range keys {
					got := filters.Builtin.MayContain(filter, key)
					require.Equal(t, pebbleReads(filter, key), got, "key %x", key)
					require.True(t, got || i >= n, "key %x is lost", key)
				}
			})
		}
	}
}

// parse returns the parts of a well-formed filter.
func parse(t *testing.T, filter []byte) filters.Info {
	name, info, err := filters.Builtin.Parse(filter)
	require.NoError(t, err)
	require.Equal(t, "Pebble Bloom", name)
	require.Equal(t, int(filter[len(filter)-5]), info.K)
	require.Equal(t, filter[:len(filter)-5], info.Payload)
	return info
}

// RocksDB has longer lines on some processors.
func TestBuiltinLongLines(t *testing.T) {
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
			require.Equal(t, pebbleReads(filter, key), filters.Builtin.MayContain(filter, key))
		}
		require.Equal(t, lineBytes, parse(t, filter).LineBytes)
	}
}

func TestBuiltinMalformed(t *testing.T) {
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
				require.Equal(t, c.may, filters.Builtin.MayContain(c.filter, key))
				if !c.may {
					require.False(t, pebbleReads(c.filter, key))
				}
			}
			_, _, err := filters.Builtin.Parse(c.filter)
			require.ErrorContains(t, err, map[bool]string{
				true:  "not a Pebble Bloom filter: every key may be contained",
				false: "matches no key",
			}[c.may])
		})
	}
}

func TestBuiltinEstimate(t *testing.T) {
	for _, bits := range []int{4, 10, 20} {
		const n = 20000
		keys := pebbleKeys(t, int64(bits), n)[1000:] // the short keys before would repeat
		for i := range keys {
			keys[i] = binary.BigEndian.AppendUint32(keys[i], uint32(i))
		}
		filter := pebbleWrites(bits, keys)
		info := parse(t, filter)
		distinct, fpp := info.Estimate()
		require.InEpsilon(t, len(keys), distinct, 0.008)
		if bits <= 10 { // then the probes are nearly independent
			passed := 0
			const absent = 100000
			for i := range absent {
				if pebbleReads(filter, fmt.Appendf(nil, "absent%07d", i)) {
					passed++
				}
			}
			require.InEpsilon(t, float64(passed)/absent, fpp, 0.25)
		}
	}
}

// Each line counts by itself.
func TestBuiltinEstimateOfLines(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	const k, lines = 3, 40
	filter := binary.LittleEndian.AppendUint32(append(make([]byte, 64*lines), k), lines)
	wantKeys, wantFPP := 0.0, 0.0
	for line := range lines {
		n := 10 * line
		for _, bit := range rng.Perm(512)[:n] {
			filter[64*line+bit/8] |= 1 << (bit % 8)
		}
		wantKeys -= 512.0 / k * math.Log(1-float64(n)/512)
		wantFPP += math.Pow(float64(n)/512, k) / lines
	}
	keys, fpp := parse(t, filter).Estimate()
	require.InEpsilon(t, wantKeys, keys, 1e-9)
	require.InEpsilon(t, wantFPP, fpp, 1e-9)

	copy(filter, bytes.Repeat([]byte{0xff}, 64)) // a full line cannot tell how many keys it has
	keys, fpp = parse(t, filter).Estimate()
	require.True(t, math.IsInf(keys, 1))
	require.InEpsilon(t, wantFPP+1.0/lines, fpp, 1e-9)
}

// Names that say nothing about the encoding have no reader.
func TestByName(t *testing.T) {
	require.Equal(t, filters.LevelDB, filters.ByName(policy.Name))
	require.Equal(t, filters.LevelDB, filters.ByName(policy.NameGoLevelDB))
	require.Equal(t, filters.Builtin, filters.ByName("rocksdb.BuiltinBloomFilter"))
	require.Nil(t, filters.ByName("rocksdb.RibbonFilter"))
}

// The reader of LevelDB's names reads what package policy reads, and names what it parses.
func TestLevelDB(t *testing.T) {
	exact, err := policy.NewBloom(10)
	require.NoError(t, err)
	ribbon, err := policy.NewRibbon(10)
	require.NoError(t, err)
	keys := pebbleKeys(t, 6, 100)
	for name, filter := range map[string][]byte{
		"LevelDB Bloom": exact.AppendFilter(nil, keys),
		"ribbon":        ribbon.AppendFilter(nil, keys),
		"unknown":       {1, 2, 3, 0xee},
	} {
		encoding, _, err := filters.LevelDB.Parse(filter)
		require.Equal(t, name, encoding)
		require.Equal(t, name == "unknown", err != nil)
		for _, key := range pebbleKeys(t, 7, 100) {
			require.Equal(t, policy.MayContain(filter, key),
				filters.LevelDB.MayContain(filter, key))
		}
	}
}

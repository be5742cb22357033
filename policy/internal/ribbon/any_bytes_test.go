package ribbon

import (
	"encoding/binary"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// requireAnswers compares the reader with the reference, also for hashes at the ends of ranges.
func requireAnswers(t testing.TB, filter []byte, hashes ...uint64) (fits bool) {
	t.Helper()
	for i := range uint64(4) {
		hashes = append(hashes, i<<62, math.MaxUint64-i<<62, i<<30, 1<<32-1-i)
	}
	_, valid := Parse(filter)
	for _, hash := range hashes {
		want, fits := refContains(filter, hash)
		require.Equal(t, want, Contains(filter, hash), "%#x in % x", hash, filter)
		require.False(t, valid && !fits, "Parse, % x", filter)
	}
	return valid
}

// correct sets the check byte.
func correct(filter []byte) {
	if n := len(filter); n >= 8 {
		filter[n-2] ^= refCheck(filter)
	}
}

// Trailers of each kind: slots and columns that fit, barely fit and do not, and damaged indexes.
func TestAnyTrailer(t *testing.T) {
	rng := testkit.Rand(t, 10)
	fit, all := 0, 0
	for range 6000 {
		filter := make([]byte, rng.Intn(400))
		rng.Read(filter)
		if rng.Intn(8) == 0 {
			clear(filter) // every key may be in some of these
		}
		n := len(filter)
		switch kind := rng.Intn(4); {
		case n < 30 || kind == 0:
		case kind == 1: // one shard, of about as many columns as there may be
			slots := 8*n/(1+rng.Intn(42)) + rng.Intn(3)
			binary.LittleEndian.PutUint16(filter[n-4:], uint16(slots%1024+1024*rng.Intn(64)))
		default: // several shards
			shards := rng.Intn(min(5, n/20))
			columns := rng.Intn(43)
			binary.LittleEndian.PutUint32(filter[n-8:], uint32(shards))
			binary.LittleEndian.PutUint16(filter[n-4:], uint16(1024*columns))
			octet := rng.Intn(20) / 16
			for at := n - 12 - 4*shards; at < n-8; at += 4 {
				binary.LittleEndian.PutUint32(filter[at:], uint32(64*octet+rng.Intn(64)))
				octet += rng.Intn(16) + 6
			}
			if rng.Intn(8) == 0 {
				filter[n-9-rng.Intn(4+4*shards)] ^= byte(rng.Int())
			}
		}
		if rng.Intn(10) > 0 {
			correct(filter)
		}
		all++
		if requireAnswers(t, filter, randomHashes(rng, 20)...) {
			fit++
		}
	}
	require.InDelta(t, all/3, fit, float64(all)/6, "filters that fit, and others")
}

// Sound filters that are cut or have a changed byte, seen by the check or not. Every change of one
// of the last 8 bytes but Encoding is seen.
func TestDamage(t *testing.T) {
	rng := testkit.Rand(t, 12)
	for _, n := range []int{13, 40, 64, 66, 200, 701, 1500} {
		hashes := randomHashes(rng, n)
		filter := build(t, hashes, 3.3)
		for range 300 {
			at := max(0, len(filter)-1-rng.Intn(rng.Intn(len(filter))+1))
			damaged := slices.Clone(filter)
			damaged[at] ^= byte(1 + rng.Intn(255))
			requireAnswers(t, damaged, hashes[:4]...)
			correct(damaged)
			requireAnswers(t, damaged, hashes[:4]...)
		}
		for cut := range min(len(filter), 60) {
			requireAnswers(t, filter[:len(filter)-cut], hashes[:4]...)
			requireAnswers(t, filter[cut:], hashes[:4]...)
		}
		for at := len(filter) - 8; at < len(filter)-1; at++ {
			for change := 1; change < 256; change++ {
				damaged := slices.Clone(filter)
				damaged[at] ^= byte(change)
				_, ok := Parse(damaged)
				require.False(t, ok, "byte %d", at)
			}
		}
	}
}

// Any bytes, as they are and with a correct check byte: no panic, and the answers of the reference.
func FuzzContains(f *testing.F) {
	rng := rand.New(rand.NewSource(13))
	for _, n := range []int{8, 36, 64, 100, 701, 1500} {
		hashes := randomHashes(rng, n)
		f.Add(build(f, hashes, 10), hashes[0])
	}
	f.Add(make([]byte, 12), uint64(0))
	f.Fuzz(func(t *testing.T, filter []byte, hash uint64) {
		requireAnswers(t, filter, hash)
		filter = slices.Clone(filter)
		correct(filter)
		requireAnswers(t, filter, hash)
	})
}

// Any hashes: the filter of the reference.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("any bytes: any bytes: any bytes: any bytes: any bytes: any bytes: any"), 10.0, 1)
	f.Add(make([]byte, 100), 3.5, 100)
	f.Fuzz(func(t *testing.T, data []byte, bitsPerKey float64, times int) {
		if !(bitsPerKey >= 2 && bitsPerKey <= 40) {
			return
		}
		var hashes []uint64
		for ; len(data) >= 8 && len(hashes) < 800; data = data[8:] {
			x := binary.LittleEndian.Uint64(data)
			for i := range uint64(times) % 100 { // neighbors
				hashes = append(hashes, x+i)
			}
		}
		if len(hashes) == 0 || len(hashes) > 1600 {
			return
		}
		require.Equal(t, refBuild(hashes, bitsPerKey), build(t, hashes, bitsPerKey))
	})
}

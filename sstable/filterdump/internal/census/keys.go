package census

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

const (
	maxLookups = scan.SampleKeys

	// Keys often form groups with giant gaps between them ("acct:...", "user:..."), in which nobody
	// looks for keys: a gap counts as one of at most 64 keys.
	maxPerGap = 64
)

// absentKeys returns absent keys between neighbors, in ascending order. Each absent key that counts
// is as likely to be taken as any other.
func absentKeys(keys, next [][]byte, rng *rand.Rand) (all [][]byte) {
	gaps, total := make([]gap, len(keys)), uint64(0)
	for i, key := range keys {
		gaps[i] = between(key, next[i])
		if gaps[i].len == 0 && len(key) != len(next[i]) {
			if other := longer(key); bytes.Compare(other, next[i]) < 0 {
				all = append(all, other)
			}
		}
		total += min(gaps[i].len, maxPerGap)
	}
	share := min(1, maxLookups/float64(total))
	for i, key := range keys {
		for n := range min(gaps[i].len, maxPerGap) {
			if rng.Float64() >= share {
				continue
			}
			if gaps[i].len > maxPerGap {
				n = rng.Uint64N(gaps[i].len)
			}
			other := bytes.Clone(key)
			gaps[i].put(other, n)
			all = append(all, other)
		}
	}
	return sorted(all)
}

// longer returns a key that follows key at once, for neighbors of different lengths, such as URLs.
func longer(key []byte) []byte {
	last := byte('0')
	if len(key) > 0 {
		last = key[len(key)-1]
	}
	return append(bytes.Clone(key), last)
}

// randomKeys returns keys of random bytes that are as long as others, in ascending order.
func randomKeys(keys [][]byte, rng *rand.Rand) (all [][]byte) {
	for range min(len(keys), maxLookups/8) {
		key := make([]byte, len(keys[rng.IntN(len(keys))]))
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		all = append(all, key)
	}
	return sorted(all)
}

func sorted(keys [][]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

package census

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

const (
	maxLookups = 1 << 17

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
		if len(key) != len(next[i]) {
			other := append(bytes.Clone(key), '0') // for neighbors such as URLs
			if bytes.Compare(other, next[i]) < 0 {
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
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

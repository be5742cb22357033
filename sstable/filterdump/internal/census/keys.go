package census

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/absent"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

const (
	maxLookups = analysis.SampleKeys

	// Keys often form groups with giant gaps between them ("acct:...", "user:..."), which nobody
	// looks into: only so many keys of a gap count.
	maxPerGap = 64
)

// absentKeys returns absent keys between neighbors, in ascending order: each that counts like its
// neighbors is as likely to be taken as each other.
func absentKeys(keys, next [][]byte, rng *rand.Rand) (all [][]byte) {
	gaps, total := make([]absent.Gap, len(keys)), uint64(0)
	for i, key := range keys {
		gaps[i] = absent.Between(key, next[i])
		if gaps[i].Len == 0 && len(key) != len(next[i]) {
			if other := longer(key); bytes.Compare(other, next[i]) < 0 {
				all = append(all, other)
			}
		}
		total += min(gaps[i].Len, maxPerGap)
	}
	// One of each step keys that count is taken at random: every one if the step is 1.
	step := max(1, float64(total)/maxLookups)
	taken, at, before := 0.0, step*rng.Float64(), 0.0
	for i, key := range keys {
		counts := float64(min(gaps[i].Len, maxPerGap))
		for at < before+counts {
			n := uint64(at - before)
			if gaps[i].Len > maxPerGap {
				n = rng.Uint64N(gaps[i].Len)
			}
			other := bytes.Clone(key)
			gaps[i].Put(other, n)
			all = append(all, other)
			taken++
			at = step * (taken + rng.Float64())
		}
		before += counts
	}
	return sorted(all)
}

// longer returns a key that follows key at once, for keys that do not count: those of different
// lengths, such as URLs.
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

package scan

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// SampleKeys is how many keys a sample has at most. Longer ones than maxSampled are left out.
const (
	SampleKeys = 1 << 17
	maxSampled = 512
)

// A Sample keeps the offered keys with the smallest hashes. So each distinct key is as likely to be
// in it as any other, however many versions and tables have the key, and in whatever order they
// come. The sample of a database is the sample of its tables' samples.
type Sample struct {
	below uint64 // the hashes that still count
	keys  []sampled
}

type sampled struct {
	hash uint64
	key  []byte
}

// NewSample returns a sample of the keys whose hashes are below a bound: All, or the bound of
// another sample, to which these keys will be offered.
func NewSample(below uint64) *Sample { return &Sample{below: below} }

// All is the bound of a sample to which nothing was offered.
const All = math.MaxUint64

// Bound returns the smallest hash that is not taken.
func (s *Sample) Bound() uint64 { return s.below }

// Offer offers a key, which it copies.
func (s *Sample) Offer(key []byte) {
	hash := xxh3.Hash(key)
	if hash >= s.below || len(key) > maxSampled {
		return
	}
	s.keys = append(s.keys, sampled{hash, bytes.Clone(key)})
	if len(s.keys) == 2*SampleKeys {
		s.compact()
	}
}

// compact drops repeated keys, and the keys with the largest hashes.
func (s *Sample) compact() {
	slices.SortFunc(s.keys, func(a, b sampled) int { return cmp.Compare(a.hash, b.hash) })
	s.keys = slices.CompactFunc(s.keys, func(a, b sampled) bool { return a.hash == b.hash })
	if len(s.keys) > SampleKeys {
		s.below = s.keys[SampleKeys].hash
		clear(s.keys[SampleKeys:])
		s.keys = s.keys[:SampleKeys]
	}
}

// Keys returns the keys, each once, in ascending order.
func (s *Sample) Keys() (keys [][]byte) {
	s.compact()
	for _, k := range s.keys {
		keys = append(keys, k.key)
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

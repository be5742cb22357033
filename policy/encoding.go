package policy

import (
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/rate"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// An Encoding is a way to write filters. The last byte of a filter tells it.
type Encoding byte

// The encodings. The last byte of a ribbon filter is its encoding.
const (
	EncodingUnknown Encoding = 0
	EncodingBloom   Encoding = 1 // LevelDB's Bloom filter, whose last byte is k
	EncodingRibbon  Encoding = ribbon.Encoding
)

// String returns a name such as "LevelDB Bloom".
func (e Encoding) String() string {
	for _, known := range encodings {
		if known.Encoding == e {
			return known.name
		}
	}
	return "unknown"
}

// An encoding is what this package knows of an Encoding besides its policies.
type encoding struct {
	Encoding
	name string
	// contains is MayContain for a filter of this encoding. It is not called for LevelDB's, which
	// MayContain reads itself, nor for one with a case of its own in mayContainOurs.
	contains func(filter, key []byte) bool
	// parse and estimate are Parse and Info.Estimate for a filter of this encoding.
	parse    func(filter []byte) (Info, error)
	estimate func(filter []byte) (keys, fpp float64)
}

// encodings lists all encodings. A new one is an entry here, and its policies are entries of kinds.
// MayContain uses this table, so it has nothing that builds filters: a program that reads them, or
// that builds filters of one kind, is linked without the builders of the others.
var encodings = []encoding{
	{EncodingBloom, "LevelDB Bloom", nil, parseBloom, estimateBloom},
	{EncodingRibbon, "ribbon", containsRibbon, parseRibbon, estimateRibbon},
}

// encodingOf returns the encoding of filters with this last byte, or nil.
func encodingOf(last byte) *encoding {
	if last <= bloom.MaxProbes {
		last = byte(EncodingBloom)
	}
	for i := range encodings {
		if byte(encodings[i].Encoding) == last {
			return &encodings[i]
		}
	}
	return nil
}

func parseBloom(filter []byte) (Info, error) {
	last := len(filter) - 1
	if filter[last] == 0 {
		return Info{}, ErrZeroK
	}
	return Info{K: int(filter[last]), Payload: filter[:last]}, nil
}

func estimateBloom(filter []byte) (keys, fpp float64) {
	last := len(filter) - 1
	return rate.FromBits(8*last, int(filter[last]), bloom.Ones(filter[:last]))
}

// keyHash is the hash of our own encoding: XXH3 with 64 bits and seed 0. (LevelDB's is [Hash].)
//
// XXH3 is well tested and zeebo/xxh3 is widely used; it returns the same on all platforms, and
// depends only on a library that finds the processor's features.
func keyHash(key []byte) uint64 { return xxh3.Hash(key) }

func containsRibbon(filter, key []byte) bool { return ribbon.Contains(filter, keyHash(key)) }

func parseRibbon(filter []byte) (Info, error) {
	r, ok := ribbon.Parse(filter)
	if !ok {
		return Info{}, ErrDamaged
	}
	return Info{K: r.Columns, Payload: filter[:r.Payload]}, nil
}

func estimateRibbon(filter []byte) (keys, fpp float64) {
	r, _ := ribbon.Parse(filter)
	return r.Keys, r.FPP
}

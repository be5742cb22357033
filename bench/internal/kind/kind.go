// Package kind lists the kinds of filter that levelbloom builds. A new kind is one more entry.
package kind

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
)

// A Kind is a way to build filters, under the name that flags and tables have for it.
type Kind struct {
	Name        string
	Idea        string // in a few words
	Constructor string // what to call to use it
	Encoding    policy.Encoding
	Smallest    policy.Encoding // of filters that are too small for Encoding, if some are
	Policy      string          // the name of its policies in policy.Kinds
	New         func(bitsPerKey float64) (policy.Policy, error)
	Use         string // when to use it, if not always
	// OneSize is true of Bloom filters whose size and k depend on nothing but the number of keys.
	OneSize bool

	// Bounds are the highest mean false-positive rates that the kind promises.
	Bounds []Bound
}

// A Bound is for filters of From keys or more, up to the next bound of the same bits per key.
type Bound struct {
	Bits float64
	From int
	Rate float64
}

// Exact is the kind that other kinds are compared with: LevelDB's Bloom filter, byte for byte.
var Exact = Kind{
	Name:        "exact",
	Idea:        "LevelDB's Bloom filter, byte for byte",
	Constructor: "policy.NewBloom",
	Encoding:    policy.EncodingBloom,
	Policy:      "bloom",
	New:         func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) },
	Use:         compatible,
	OneSize:     true,
}

const compatible = "if C++ LevelDB or another reader of LevelDB's filters reads the tables too"

// All lists all kinds.
var All = []Kind{
	Exact,
	{
		Name:        "tuned",
		Idea:        "LevelDB's Bloom filter, with the size and k that suit the keys",
		Constructor: "policy.NewBloom with policy.WithTuning(0.05)",
		Encoding:    policy.EncodingBloom,
		Policy:      "tuned",
		New:         newTuned,
		Use:         compatible,
	},
	{
		Name:        "ribbon",
		Idea:        "the solution of equations: no probes, and the fewest false positives",
		Constructor: "policy.NewRibbon",
		Encoding:    policy.EncodingRibbon,
		Smallest:    policy.EncodingBloom,
		Policy:      "ribbon",
		New:         newRibbon,
		Bounds: []Bound{ // those of NewRibbon
			{7, 8, 0.0079}, {7, 701, 0.0105}, {7, 5000, 0.0091},
			{10, 8, 0.00102}, {10, 701, 0.00131}, {10, 5000, 0.00115},
			{16, 8, 0.000017}, {16, 701, 0.000021}, {16, 5000, 0.000018},
		},
	},
}

func newTuned(bits float64) (policy.Policy, error) {
	return policy.NewBloom(bits, policy.WithTuning(0.05))
}

func newRibbon(bits float64) (policy.Policy, error) { return policy.NewRibbon(bits) }

// Name returns k's name.
func Name(k Kind) string { return k.Name }

// Call returns the line of Go that makes a policy of kind k.
func (k Kind) Call(bits float64) string {
	constructor, option, _ := strings.Cut(k.Constructor, " with ")
	arguments := strings.Trim(fmt.Sprintf("%v, %s", bits, option), ", ")
	return fmt.Sprintf("p, err := %s(%s)", constructor, arguments)
}

// Named returns the kind of that name.
func Named(name string) (Kind, bool) {
	for _, k := range All {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Bound returns the highest rate that k promises for filters of n keys, if it promises one.
func (k Kind) Bound(bits float64, n int) (rate float64, ok bool) {
	from := 0
	for _, b := range k.Bounds {
		if b.Bits == bits && b.From <= n && b.From >= from {
			rate, from, ok = b.Rate, b.From, true
		}
	}
	return rate, ok
}

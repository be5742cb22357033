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
	New         func(bitsPerKey float64) (policy.Policy, error)
	Use         string // when to use it, if not always
	// OneSize is true of Bloom filters whose size and k depend on nothing but the number of keys.
	OneSize bool

	// Bounds are the highest mean false-positive rates that the kind promises.
	Bounds []Bound
	// SmallAsExact is the promise that filters of 8 to 500 keys that are not divided into lines
	// have no more false positives than Exact's filters of random keys.
	SmallAsExact bool
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
		New:         newTuned,
		Use:         compatible,
	},
	{
		Name:         "blocked",
		Idea:         "a Bloom filter in which all probes of a key lie in one cache line",
		Constructor:  "policy.NewBlockedBloom",
		Encoding:     policy.EncodingBlocked,
		New:          newBlocked,
		OneSize:      true,
		Bounds:       []Bound{{10, 500, 0.0100}, {16, 500, 0.0009}, {20, 500, 0.00022}},
		SmallAsExact: true,
	},
	{
		Name:        "ribbon",
		Idea:        "the solution of equations: no probes, and the fewest false positives",
		Constructor: "policy.NewRibbon",
		Encoding:    policy.EncodingRibbon,
		Smallest:    policy.EncodingBlocked,
		New:         newRibbon,
		Use:         "if needless reads cost more than longer builds, as those of a disk do",
		Bounds: []Bound{
			{10, 20, 0.00155}, {10, 36, 0.00135}, {10, 64, 0.0013}, {10, 500, 0.00115},
			{10, 100_000, 0.00105},
			// as from 6 % fewer bits in the smallest filters that there can be
			{7, 5000, 0.01046}, {16, 5000, 0.0000297},
		},
	},
}

func newTuned(bits float64) (policy.Policy, error) {
	return policy.NewBloom(bits, policy.WithTuning(0.05))
}

func newBlocked(bits float64) (policy.Policy, error) { return policy.NewBlockedBloom(bits) }
func newRibbon(bits float64) (policy.Policy, error)  { return policy.NewRibbon(bits) }

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

// Package kind lists the kinds of filter that levelbloom builds. A new kind is one more entry.
package kind

import "github.com/levelbloom/levelbloom/policy"

// A Kind is a way to build filters, under the name that flags and tables have for it.
type Kind struct {
	Name        string
	Description string
	Constructor string // what to call to use it
	Encoding    policy.Encoding
	New         func(bitsPerKey float64) (policy.Policy, error)

	// Bounds holds the highest mean false-positive rates that the kind promises, by bits per key,
	// for filters of 500 to 10M keys.
	Bounds map[float64]float64
	// SmallAsExact is the promise that filters of 8 to 500 keys that are not divided into lines
	// have no more false positives than Exact's filters of random keys.
	SmallAsExact bool
}

// Exact is the kind that other kinds are compared with.
var Exact = Kind{
	Name:        "exact",
	Description: "LevelDB's Bloom filter, byte for byte",
	Constructor: "policy.NewBloom",
	Encoding:    policy.EncodingBloom,
	New:         func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) },
}

// All lists all kinds.
var All = []Kind{
	Exact,
	{
		Name:        "blocked",
		Description: "blocked Bloom filter: all probes of a key in one cache line",
		Constructor: "policy.NewBlockedBloom",
		Encoding:    policy.EncodingBlocked,
		New: func(bits float64) (policy.Policy, error) {
			return policy.NewBlockedBloom(bits)
		},
		Bounds:       map[float64]float64{10: 0.0100, 16: 0.0009, 20: 0.00022},
		SmallAsExact: true,
	},
}

// Name returns k's name.
func Name(k Kind) string { return k.Name }

// Named returns the kind of that name.
func Named(name string) (Kind, bool) {
	for _, k := range All {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

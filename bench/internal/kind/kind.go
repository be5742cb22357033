// Package kind lists the kinds of filter that the benchmarks compare: those of package policy, with
// the false-positive rates that they promise, and the engines' own.
package kind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/policy"
)

// A Kind is a way to build filters, for any number of bits per key.
type Kind struct {
	Name     string // as FromString takes it
	Encoding policy.Encoding
	Only     float64 // bits per key, if the name has them
	New      func(bitsPerKey float64) (policy.Policy, error)
	// Bounds are the highest mean false-positive rates that the kind promises.
	Bounds []Bound

	base, options string // of the name, as policy.FromString takes them: "bloom", ",tuning=0.02"
}

// A Bound is for filters of From keys or more, up to the next bound of the same bits per key.
type Bound struct {
	Bits float64
	From int
	Rate float64
}

// ribbonBounds are those of policy.NewRibbon.
var ribbonBounds = []Bound{
	{7, 8, 0.0079}, {7, 701, 0.0105}, {7, 5000, 0.0091},
	{10, 8, 0.00102}, {10, 701, 0.00131}, {10, 5000, 0.00115},
	{16, 8, 0.000017}, {16, 701, 0.000021}, {16, 5000, 0.000018},
}

// All lists the kinds of package policy, the one that others are compared with first.
var All = func() (all []Kind) {
	for _, p := range policy.Kinds() {
		k := Kind{Name: p.Name, Encoding: p.Encoding, base: p.Name}
		if p.Encoding == policy.EncodingRibbon {
			k.Bounds = ribbonBounds
		}
		k.New = k.fromString
		all = append(all, k)
	}
	return all
}()

// Own lists the engines' own filters.
var Own = []Kind{
	{Name: "goleveldb", base: "goleveldb", Encoding: policy.EncodingBloom, New: newGoLevelDB},
	{Name: "pebblev2", base: "pebblev2", New: newPebble},
}

// FromString returns the kind of a name in All or Own, behind which there may be a colon and the
// only bits per key, and options as policy.FromString takes them: "bloom", "ribbon:7",
// "bloom,tuning=0.02". The error says what to pass instead.
func FromString(spec string) (Kind, error) {
	base, options, comma := strings.Cut(spec, ",")
	base, only, colon := strings.Cut(base, ":")
	k, ok := Named(base)
	if !ok {
		return k, fmt.Errorf("no %q: choose from %s", spec, Names(slices.Concat(All, Own)))
	}
	k.Name = spec
	if comma {
		k.options = "," + options
		k.New = k.fromString // an engine's own has no options, says package policy
	}
	bits := 10.0
	if colon {
		var err error
		if k.Only, err = strconv.ParseFloat(only, 64); err != nil {
			return k, fmt.Errorf("%q: pass a number of bits per key, such as %s:10", spec, base)
		}
		bits = k.Only
	}
	_, err := k.New(bits)
	return k, err
}

// Names joins the names of kinds with commas.
func Names(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return strings.Join(names, ",")
}

// Named returns the kind of that name in All or Own.
func Named(name string) (Kind, bool) {
	all := slices.Concat(All, Own)
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

func (k Kind) fromString(bitsPerKey float64) (policy.Policy, error) {
	return policy.FromString(fmt.Sprintf("%s:%v%s", k.base, bitsPerKey, k.options))
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

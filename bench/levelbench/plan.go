package levelbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/policy"
)

// An Encoding is a kind of filter that a level can have.
type Encoding struct {
	Name, Description string
	// newPolicy makes this module's policy. It is nil for the others.
	newPolicy func(bits float64) (policy.Policy, error)
}

const (
	none    = "none"
	builtin = "builtin"
)

// Encodings lists all encodings.
var Encodings = []Encoding{
	{none, "no filter", nil},
	{builtin, "Pebble's own, with whole bits per key", nil},
	{"exact", "LevelDB's Bloom filter", func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) }},
	{"blocked", "blocked Bloom", func(bits float64) (policy.Policy, error) { return policy.NewBlockedBloom(bits) }},
	{"fuse", "binary fuse, or blocked Bloom where that has fewer false positives", func(bits float64) (policy.Policy, error) { return policy.NewBinaryFuse(bits) }},
}

func encodingNamed(name string) (Encoding, error) {
	i := slices.IndexFunc(Encodings, func(e Encoding) bool { return e.Name == name })
	if i < 0 {
		var names []string
		for _, e := range Encodings {
			names = append(names, e.Name)
		}
		return Encoding{}, fmt.Errorf("no encoding %q: choose from %s", name, strings.Join(names, ", "))
	}
	return Encodings[i], nil
}

// A Plan says which encoding the filters of each level have, if the level has filters.
type Plan struct {
	Name   string
	Levels [engine.NumLevels]Encoding
}

// ParsePlan returns the plan of a name: an encoding for all levels, or two with a slash between them, of which the second
// one is for the levels from split on.
func ParsePlan(name string, split int) (p Plan, err error) {
	upper, lower, two := strings.Cut(name, "/")
	if !two {
		lower = upper
	}
	p.Name = name
	for level := range p.Levels {
		encoding := upper
		if level >= split {
			encoding = lower
		}
		if p.Levels[level], err = encodingNamed(encoding); err != nil {
			return p, err
		}
	}
	return p, nil
}

// policies returns this module's policies of all levels, nil for the others.
func (p Plan) policies(bits float64, l6 bool) ([]policy.Policy, error) {
	all := make([]policy.Policy, engine.NumLevels)
	for level, e := range p.Levels {
		if e.newPolicy != nil && (level < lastLevel || l6) {
			var err error
			if all[level], err = e.newPolicy(bits); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

const lastLevel = engine.NumLevels - 1

// configure sets the plan's filters in o, with meters around them. Without l6 the last level has none, as Get asks none
// there. A level without filters has no meter.
func (p Plan) configure(o *pebble.Options, bits float64, l6 bool) (meters [engine.NumLevels]*meter, err error) {
	policies, err := p.policies(bits, l6)
	if err != nil {
		return meters, err
	}
	if err := pebblev2.ConfigureLevels(o, policies); err != nil {
		return meters, err
	}
	for level, e := range p.Levels {
		f := &o.Levels[level].FilterPolicy
		if e.Name == builtin && (level < lastLevel || l6) {
			*f = bloom.FilterPolicy(engine.WholeBits(bits))
		}
		if *f != pebble.NoFilterPolicy {
			meters[level] = newMeter(*f, e, level)
			*f = meters[level]
		}
	}
	return meters, nil
}

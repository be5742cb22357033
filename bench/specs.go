package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// specs are the filters in a list such as none,bloom,bloom:10,tuning=0.02,ribbon:7. An option
// belongs to the filter before it.
type specs []string

func (s *specs) UnmarshalText(text []byte) error {
	*s = nil
	for _, part := range strings.Split(string(text), ",") {
		if last := len(*s) - 1; last >= 0 && (strings.Contains(part, "=") || part == "verify") {
			(*s)[last] += "," + part
		} else {
			*s = append(*s, strings.TrimSpace(part))
		}
	}
	for i, spec := range *s {
		if slices.Contains((*s)[:i], spec) {
			return fmt.Errorf("%q is named twice", spec)
		}
	}
	return nil
}

// withBits returns a spec that FromString takes, with the given bits per key unless it has some.
func withBits(spec string, bits float64) string {
	name, options, _ := strings.Cut(spec, ",")
	if !strings.Contains(name, ":") {
		name += fmt.Sprintf(":%v", bits)
	}
	return strings.TrimSuffix(name+","+options, ",")
}

// kinds returns the kinds of filter of the specs, and all bits per key to measure them at: the
// given ones, and those of specs that have some.
func (s specs) kinds(bits []float64) (all []kind.Kind, union []float64, err error) {
	union = slices.Clone(bits)
	for _, spec := range s {
		k, err := kind.FromString(spec)
		if err != nil {
			return nil, nil, fmt.Errorf("--filters: %w", err)
		}
		if k.Only == 0 && len(bits) == 1 {
			k.Only = bits[0]
		}
		if k.Only != 0 {
			union = append(union, k.Only)
		}
		all = append(all, k)
	}
	slices.Sort(union)
	return all, slices.Compact(union), nil
}

package policy

import (
	"errors"
	"fmt"
	"strings"
)

// An Option changes a setting of a policy under construction.
type Option func(*common) error

// maxBitsPerKey limits the setting. One key then takes 128 MiB; larger values are mistakes.
const maxBitsPerKey = 1 << 30

// newCommon checks what all constructors take.
func newCommon(bitsPerKey float64, opts []Option) (common, error) {
	c := common{name: Name, bitsPerKey: bitsPerKey}
	if !(bitsPerKey > 0 && bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return c, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most 2^30, usually 10", bitsPerKey)
	}
	for _, opt := range opts {
		if opt == nil {
			return c, errors.New("policy: an option is nil: leave it out")
		}
		if err := opt(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// WithName sets the name that engines store beside the filters; the default is [Name]. Engines find
// filters by this name alone, so a database that changes it must keep a reader under the old name
// (the adapters' Configure does).
//
// It refuses names that Pebble's options files cannot carry (an empty one, "none", one with line
// breaks or with spaces around it), and names that begin with "rocksdb.", which belong to other
// encodings.
func WithName(name string) Option {
	return func(c *common) error {
		c.name = name
		return checkName(name)
	}
}

// checkName returns an error if engines cannot store filters under the name.
func checkName(name string) error {
	trimmed := strings.TrimSpace(name)
	switch {
	case name == "":
		return errors.New("policy: the name is empty: " +
			"pass one such as policy.Name, or leave WithName out")
	case name == "none":
		return errors.New(`policy: the name "none" means "no filter" in Pebble's options files: ` +
			"pass another")
	case strings.ContainsAny(name, "\n\r"):
		return fmt.Errorf("policy: the name %q has a line break, "+
			"which Pebble's options files cannot carry: pass one without", name)
	case trimmed != name:
		return fmt.Errorf("policy: the name %q has spaces around it, "+
			"which Pebble's options files cannot carry: pass %q", name, trimmed)
	case strings.HasPrefix(name, "rocksdb."):
		return fmt.Errorf("policy: the name %q belongs to another encoding, "+
			"and engines would mistake one for the other: pass another", name)
	}
	return nil
}

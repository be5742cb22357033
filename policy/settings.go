package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// settings is what all policies of this package share.
type settings struct {
	name       string
	bitsPerKey float64
	tuning     float64 // the argument of WithTuning, or 0
	verify     bool    // WithVerify
}

// Name returns the name under which engines store the filters.
func (s *settings) Name() string { return s.name }

// BitsPerKey returns the number of bits per key that the policy was made with.
func (s *settings) BitsPerKey() float64 { return s.bitsPerKey }

// A BloomOption is an option of [NewBloom].
type BloomOption interface {
	apply(*settings) error
}

// An Option is an option of all constructors.
type Option interface {
	BloomOption
	ofAll()
}

type (
	bloomOption func(*settings) error
	option      func(*settings) error
)

func (o bloomOption) apply(s *settings) error { return o(s) }
func (o option) apply(s *settings) error      { return o(s) }
func (option) ofAll()                         {}

// WithName sets the name that engines store beside the filters; the default is [Name]. Engines find
// filters by this name alone, so a database that changes it must keep a reader under the old name
// (the adapters' Configure does).
//
// It refuses names that Pebble's options files cannot carry (an empty one, "none", one with line
// breaks or with spaces around it), and names that begin with "rocksdb.", which belong to other
// encodings.
func WithName(name string) Option {
	return option(func(s *settings) error {
		s.name = name
		return checkName(name)
	})
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

// newSettings applies options to the defaults.
func newSettings[O BloomOption](bitsPerKey float64, opts []O) (settings, error) {
	s := settings{name: Name, bitsPerKey: bitsPerKey}
	for _, opt := range opts {
		if any(opt) == nil {
			return s, errors.New("policy: an option is nil: leave it out")
		}
		if err := opt.apply(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// filterBytes returns how many bytes n * bitsPerKey bits take, or 2^60 for 2^63 bits and more.
// It panics if n is negative.
func filterBytes(n int, bitsPerKey float64) uint64 {
	if n < 0 {
		panic(fmt.Sprintf("policy: a filter of %d keys: pass 0 or more", n))
	}
	var nbits uint64
	if float64(n)*bitsPerKey >= 1<<63 {
		nbits = 1 << 63
	} else if whole := uint64(bitsPerKey); float64(whole) == bitsPerKey {
		nbits = uint64(n) * whole // exact beyond 2^53 too
	} else {
		nbits = uint64(math.Ceil(float64(n) * bitsPerKey))
	}
	return (nbits + 7) / 8
}

// extend appends size zero bytes, the filter of n keys, to dst. It returns the extended slice and
// the filter in it. It panics, as make does, if an int cannot express the size, which takes a
// 32-bit platform and a filter that no memory there could contain.
func (s *settings) extend(dst []byte, size uint64, n int) (extended, filter []byte) {
	if size > math.MaxInt {
		panic(fmt.Sprintf("policy: a filter of %d keys at %v bits per key has %d bytes, "+
			"more than an int can express", n, s.bitsPerKey, size))
	}
	extended = slices.Grow(dst, int(size))[:len(dst)+int(size)]
	filter = extended[len(dst):]
	clear(filter) // Grow leaves the spare capacity as it was
	return extended, filter
}

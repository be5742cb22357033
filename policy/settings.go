package policy

import (
	"errors"
	"fmt"
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

// A BloomOption is an option of [NewBloom]: one of [WithTuning], or an Option.
type BloomOption interface {
	apply(*settings) error
}

// An Option is an option of all constructors.
type Option func(*settings) error

var errNilOption = errors.New("policy: an option is nil: leave it out")

func (o Option) apply(s *settings) error {
	if o == nil {
		return errNilOption
	}
	return o(s)
}

// WithName sets the name that engines store beside the filters; the default is [Name]. Engines find
// filters by this name alone, so a database that changes it must keep a reader under the old name
// (the adapters' Configure does).
//
// It refuses names that Pebble's options files cannot carry (an empty one, "none", one with line
// breaks or with spaces around it), and names that begin with "rocksdb.", which belong to other
// encodings.
func WithName(name string) Option {
	return func(s *settings) error {
		s.name = name
		return checkName(name)
	}
}

// WithVerify makes builders look up all keys in each filter that they have finished. If the filter
// misses one or is malformed, the builder returns a filter of 2 bytes that excludes nothing: all
// readers, C++ LevelDB's and goleveldb's among them, answer "may contain". [Count] counts these
// filters, and [Parse] recognizes them ([ErrReplaced]). AppendFilter and sstable.FilterBlockBuilder
// verify too. RocksDB has detect_filter_construct_corruption for this.
//
// This catches keys lost to bits that change in memory while a filter is built, and to mistakes of
// this package. It does not catch a change that only adds false positives: [Info.Estimate] shows
// how many a filter has. Nor does it catch a key that changes before it is hashed: builders keep
// hashes and not keys.
//
// Filters take up to twice as long to build with it.
func WithVerify() Option {
	return func(s *settings) error {
		s.verify = true
		return nil
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

// newSettings applies options to the defaults.
func newSettings[O BloomOption](bitsPerKey float64, opts []O) (settings, error) {
	s := settings{name: Name, bitsPerKey: bitsPerKey}
	for _, opt := range opts {
		if any(opt) == nil {
			return s, errNilOption
		}
		if err := opt.apply(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

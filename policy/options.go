package policy

import (
	"errors"
	"fmt"
	"strings"
)

// An Option is an option of [NewBloom], [NewRibbon] and [FromString].
type Option struct{ apply func(*Policy) error }

// WithName sets the name that engines store beside the filters; the default is [NameLevelDB].
// Engines find filters by this name alone, so a database that changes it must keep a reader under
// the old name (the adapters' Configure does).
//
// It refuses names that Pebble's options files cannot carry (an empty one, "none", one with line
// breaks or with spaces around it), names with a comma, which separates options in [FromString],
// and names that begin with "rocksdb.", which belong to other encodings.
func WithName(name string) Option {
	return Option{func(p *Policy) error {
		p.name = name
		return checkName(name)
	}}
}

// checkName returns an error if engines cannot store filters under the name.
func checkName(name string) error {
	trimmed := strings.TrimSpace(name)
	switch {
	case name == "":
		return errors.New("policy: the name is empty: " +
			"pass one such as policy.NameLevelDB, or leave WithName out")
	case name == "none":
		return errors.New(`policy: the name "none" means "no filter" in Pebble's options files: ` +
			"pass another")
	case strings.ContainsAny(name, "\n\r"):
		return fmt.Errorf("policy: the name %q has a line break, "+
			"which Pebble's options files cannot carry: pass one without", name)
	case trimmed != name:
		return fmt.Errorf("policy: the name %q has spaces around it, "+
			"which Pebble's options files cannot carry: pass %q", name, trimmed)
	case strings.Contains(name, ","):
		return fmt.Errorf("policy: the name %q has a comma, which separates options in FromString: "+
			"pass one without, and write name= last", name)
	case strings.HasPrefix(name, "rocksdb."):
		return fmt.Errorf("policy: the name %q belongs to another encoding, "+
			"and engines would mistake one for the other: pass another", name)
	}
	return nil
}

// WithTuning gives LevelDB's filters sizes that suit dense numbers, such as counters and
// zero-padded decimals: LevelDB's number of bytes, raised to the next one that neither 2, 3, 5 nor
// 17 divides, which is at most 9 more. All readers of LevelDB's filters benefit, C++ LevelDB and
// goleveldb among them, because they take the size from the filter.
//
// False-positive rate in percent with LevelDB's size / with tuning, at 10 bits per key, by the
// number of keys in a filter. 63 % of the numbers are present. The others are looked up, and in the
// last row big-endian numbers beyond the last one:
//
//	keys          8           20          36          51          100         500         2000
//	%016d         35 / 16     9.2 / 3.8   9.1 / 2.4   74 / 1.8    1.5 / 1.3   1.2 / 1.1   1.1 / 1.0
//	%016x         46 / 19     15 / 7.2    18 / 4.3    90 / 2.6    2.1 / 1.5   1.3 / 1.7   1.3 / 1.2
//	big-endian    62 / 31     39 / 20     51 / 23     99.7 / 21   27 / 21     5.6 / 4.4   4.0 / 1.1
//	random        1.7 / 1.2   1.2 / 0.6   1.2 / 0.8   1.0 / 0.8   0.9 / 0.8   0.9 / 0.8   0.9 / 0.8
//	beyond        65 / 29     39 / 21     47 / 20     88 / 18     17 / 11     0.6 / 0.5   0.4 / 0.7
//
// Some rates are worse with tuning: two in this table. In large filters it gains little: from
// 100,000 dense decimals on, different keys have the same 32-bit hash. [NewRibbon] has one rate for
// keys of any shape, and refuses WithTuning.
func WithTuning() Option {
	return Option{func(p *Policy) error {
		p.setting.Tuned = true
		return nil
	}}
}

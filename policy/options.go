package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
)

// common is the part that [Bloom] and [Ribbon] share.
type common struct {
	name    string
	setting bloom.Setting // what both kinds of filter are built with
}

// newCommon applies options to the defaults.
func newCommon(bitsPerKey float64, opts []Option) (common, error) {
	c := common{Name, bloom.Setting{BitsPerKey: bitsPerKey}}
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

// Name returns the name under which engines store the filters.
func (c *common) Name() string { return c.name }

// BitsPerKey returns the number of bits per key that the policy was made with.
func (c *common) BitsPerKey() float64 { return c.setting.BitsPerKey }

// An Option is an option of [NewBloom], [NewRibbon] and [FromString]: [WithName], [WithVerify] or
// [WithTuning].
type Option func(*common) error

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

// WithVerify makes builders look up all keys in each filter that they have finished. If the filter
// misses one or is malformed, the builder returns a filter of 2 bytes that excludes nothing: all
// readers, C++ LevelDB's and goleveldb's among them, answer "may contain". [Count] counts these
// filters, and [Parse] recognizes them ([ErrReplaced]). AppendFilter and sstable.FilterBlockBuilder
// verify too. RocksDB calls this detect_filter_construct_corruption.
//
// This catches keys lost to bits that flip in memory while a filter is built, and to bugs of this
// package. It does not catch a change that only adds false positives: [Info.Estimate] shows how
// many a filter has. Nor does it catch a key that changes before it is hashed: builders keep hashes
// and not keys.
//
// Filters take 1.4 to 2.2 times as long to build with it (BenchmarkVerify, on an AMD EPYC).
func WithVerify() Option {
	return func(c *common) error {
		c.setting.Verify = true
		return nil
	}
}

// WithTuning lets [NewBloom] choose the size and k of each filter, for keys that end in numbers,
// such as counters and zero-padded decimals. In filters of up to some thousands of them, LevelDB's
// choice has up to 99 % false positives among the neighbors of the keys, where 1 % is expected.
// Tuned filters have about 1 %; with binary big-endian counters, about 10 % in filters of up to 100
// keys, and about 1 % with some thousands. Every reader of LevelDB's filters, C++ LevelDB and
// goleveldb among them, takes size and k from the filter, and so benefits from the lower rate.
// [NewRibbon] refuses WithTuning: its filters suit keys of any shape.
//
// memory is the largest part by which a filter may exceed LevelDB's size: above 0 and at most 1,
// usually 0.05. Some filters are smaller than LevelDB's.
//
// Keys must be added in order, as engines add them. If some are near neighbors, a builder takes a
// size that spreads their probes, and checks the filter for absent keys between its own. If too
// many are false positives, it tries other sizes and other k, and returns the best filter. If keys
// are not in order, or none are near neighbors, as with random keys, the filter is LevelDB's.
//
// From 32,768 keys on, a builder tries nothing: every filter gets two more probes than LevelDB's
// and a size that suits all keys. From about 50,000 dense decimal keys in one filter on, different
// keys have the same 32-bit hash, and nothing in the format helps: use [NewRibbon] there.
//
// A builder takes up to 5 KiB more memory, a copy of one key, and twice the memory of the filter
// while it tries others. Building takes up to twice as long for random keys. For numbers of which
// 10 % or 63 % are present, it takes 7 to 45 times as long with 20 to 100 keys, 5 to 8 times with
// 500, and 2 to 3 times with 10,000 (BenchmarkTuning, on an AMD EPYC).
func WithTuning(memory float64) Option {
	return func(c *common) error {
		if !(memory > 0 && memory <= 1) { // a NaN fails every comparison
			return fmt.Errorf("policy: tuning with %v more memory: "+
				"pass a part above 0 and at most 1, usually 0.05", memory)
		}
		c.setting.Tuning = memory
		return nil
	}
}

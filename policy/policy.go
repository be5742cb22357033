package policy

import (
	"errors"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// A Policy builds filters of one kind and reads those of every kind. Get one from [NewBloom],
// [NewRibbon] or [FromString]. It is immutable and safe for concurrent use.
//
// An engine stores the policy's name beside every filter, and reads a filter only through a policy
// of that name. Policies may share a name, because each reads the filters of the others.
type Policy struct {
	name    string // empty only in the zero value
	ribbon  bool   // otherwise LevelDB's Bloom filters
	setting builder.Setting
}

// newPolicy applies options to the defaults.
func newPolicy(ribbon bool, bitsPerKey float64, opts []Option) (*Policy, error) {
	p := &Policy{NameLevelDB, ribbon, builder.Setting{BitsPerKey: bitsPerKey}}
	for _, opt := range opts {
		if opt.apply == nil {
			return nil, errors.New("policy: an option is a zero value: leave it out")
		}
		if err := opt.apply(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// A Builder collects keys and encodes them as a filter. It is not safe for concurrent use, but
// several builders of one Policy are. A Builder that is no longer needed can simply be dropped.
type Builder interface {
	// Add adds a key. It keeps no reference to the key's memory.
	Add(key []byte)
	// Len returns the number of keys added since the last Finish. A key added twice counts twice.
	Len() int
	// Finish appends the filter of the keys added since the last Finish to dst, returns the
	// extended slice, and starts over. The spare capacity of dst may contain anything.
	Finish(dst []byte) []byte
}

const (
	// NameLevelDB is the name that C++ LevelDB (since 1.18) gives to its filters, and the default.
	NameLevelDB = "leveldb.BuiltinBloomFilter2"

	// NameGoLevelDB is the name that goleveldb gives to the same bytes. C++ LevelDB before 1.18
	// used it too, for filters whose hash depended on whether the compiler's char was signed.
	NameGoLevelDB = "leveldb.BuiltinBloomFilter"
)

var errUnusable = errors.New("policy: the policy is nil or its zero value: " +
	"get one from a constructor such as policy.NewRibbon, and check its error")

// Check returns an error that says what to do if p is nil or its zero value. The adapters call it
// before they change an engine's options.
func (p *Policy) Check() error {
	if p == nil || p.name == "" {
		return errUnusable
	}
	return nil
}

func (p *Policy) mustBeUsable() {
	if err := p.Check(); err != nil {
		panic(err)
	}
}

// Name returns the name under which engines store the filters.
func (p *Policy) Name() string { return p.name }

// NewBuilder returns an empty builder. It costs one small allocation: builders share the memory for
// their keys' hashes, and return it at Finish. Building a large ribbon filter of 10 bits per key
// takes about 17 bytes per key, the filter included (TestMemory).
func (p *Policy) NewBuilder() Builder { return p.newBuilder(false) }

// NewDistinctBuilder is NewBuilder for engines that add a key once for each of its versions, all in
// a row, as Pebble does. The builder leaves out repetitions, so that the size of a filter follows
// the number of keys, and Len does not count them.
//
// The builder compares hashes, which it has at hand. Of two different keys in a row with equal
// hashes only one counts. No key is lost, because the bits of both are the same. The filter may be
// smaller by the bits of one key, once in 2^32 keys for LevelDB's filters, and once in 2^64 for
// ribbon filters.
func (p *Policy) NewDistinctBuilder() Builder { return p.newBuilder(true) }

func (p *Policy) newBuilder(distinct bool) Builder {
	p.mustBeUsable()
	if p.ribbon {
		return ribbon.NewBuilder(&p.setting, distinct)
	}
	return bloom.NewBuilder(&p.setting, distinct)
}

// AppendFilter appends the filter of keys to dst and returns the extended slice; LevelDB calls it
// CreateFilter. The keys must not lie in the spare capacity of dst.
func (p *Policy) AppendFilter(dst []byte, keys [][]byte) []byte {
	b := p.NewBuilder()
	for _, key := range keys {
		b.Add(key)
	}
	return b.Finish(dst)
}

// FilterSize returns the size in bytes of a filter of n keys. A key added twice counts twice. With
// fractions of a bit, a ribbon filter of up to 700 keys may be larger than one of more keys. It
// panics if n is negative.
func (p *Policy) FilterSize(n int) uint64 {
	p.mustBeUsable()
	if !p.ribbon || n <= 0 {
		return bloom.Size(&p.setting, n)
	}
	return uint64(ribbon.Size(n, p.setting.BitsPerKey))
}

// FPP returns the false-positive probability, from 0 to 1, of a filter of n different keys. With up
// to 20 bits per key, and 8 to 400,000 keys in LevelDB's filters, it is within 5 % of the measured
// rate. It panics if n is negative.
//
// For LevelDB's filters it assumes keys whose hashes are like random numbers. For dense numbers,
// such as counters, no formula holds; see [NewBloom] and [WithTuning]. For LevelDB's filters FPP
// takes up to two seconds, because it simulates filters, always the same ones. In ribbon filters
// the shape of the keys does not matter.
func (p *Policy) FPP(n int) float64 {
	p.mustBeUsable()
	if !p.ribbon || n <= 0 {
		return bloom.FPP(&p.setting, n)
	}
	return ribbon.FPP(n, p.setting.BitsPerKey)
}

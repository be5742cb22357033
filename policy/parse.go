package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/rate"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// The encodings, as [Info] names them. The last byte of a filter tells its encoding.
const (
	EncodingBloom   = "LevelDB Bloom"
	EncodingRibbon  = "ribbon"
	EncodingUnknown = "unknown" // also of a filter that is empty or was replaced
)

// Info is what the bytes of one filter say. Get it from [Parse].
type Info struct {
	Encoding string // one of the constants above
	// K is the number of probes per key. For a ribbon filter it is the number of columns that all
	// slots have: a key that is not in the filter is a false positive with a probability of 2^-K or
	// less.
	K       int
	Payload []byte // the bits, and the index of a ribbon filter; it shares the filter's memory
	filter  []byte // nil if Parse returned an error
}

// The errors of [Parse], for errors.Is. Any other means that the filter is malformed.
var (
	// ErrReplaced means that a builder returned this filter in place of one that it could not build
	// or that [WithVerify] found broken. [Count] counts them.
	ErrReplaced = errors.New("replaced by its builder, which could not build it or found it " +
		"broken: every key may be contained")
	// ErrUnknownEncoding means that another program wrote the filter, or a later release.
	ErrUnknownEncoding = errors.New("unknown encoding")
)

var (
	errShort   = errors.New("shorter than 2 bytes: the filter contains no key")
	errZeroK   = errors.New("k is 0: every key may be contained")
	errDamaged = errors.New("damaged trailer, index or length: " +
		"all keys, or those of the damaged shards, may be contained")
)

// Parse returns what a filter says of itself. If the filter is malformed or of an unknown encoding,
// it returns an error that says how readers answer, and an Info that has only the Encoding.
//
// It accepts any bytes and is safe for concurrent use.
func Parse(filter []byte) (Info, error) {
	if len(filter) < 2 {
		return Info{Encoding: EncodingUnknown}, errShort
	}
	switch last := filter[len(filter)-1]; {
	case string(filter) == builder.Replacement:
		return Info{Encoding: EncodingUnknown}, ErrReplaced
	case last == 0:
		return Info{Encoding: EncodingBloom}, errZeroK
	case last <= bloom.MaxProbes:
		return Info{EncodingBloom, int(last), filter[:len(filter)-1], filter}, nil
	case last == ribbon.Encoding:
		r, ok := ribbon.Parse(filter)
		if !ok {
			return Info{Encoding: EncodingRibbon}, errDamaged
		}
		return Info{EncodingRibbon, r.Columns, filter[:r.Payload], filter}, nil
	default:
		return Info{Encoding: EncodingUnknown},
			fmt.Errorf("%w 0x%02x: every key may be contained", ErrUnknownEncoding, last)
	}
}

// Probes appends the numbers of the bits of Payload that a lookup of key reads to dst, in the order
// of the format, and returns the extended slice. Bit p is bit p%8 of byte p/8. The key may be in
// the filter if all of them are set. Only LevelDB's Bloom filters have probes: for others, Probes
// appends nothing.
func (i Info) Probes(dst []uint64, key []byte) []uint64 {
	if i.Encoding != EncodingBloom || i.filter == nil {
		return dst
	}
	return bloom.Probes(dst, 8*uint64(len(i.Payload)), i.K, key)
}

// Estimate estimates from the bytes of a filter how many distinct keys it has, and the probability
// that a random absent key is a false positive. keys is +Inf if all bits of the filter are set. An
// Info that came with an error has 0 keys and an fpp of 1.
//
// Both assume keys whose hashes are like random numbers: among the neighbors of dense numbers,
// LevelDB's encoding can have far more false positives. Even for random keys, its fpp is mostly too
// low: with 20 keys by a factor of 1.4 at 10 bits per key, and of 17 at 20 bits per key.
// [Bloom.FPP] is closer, and slower. For a ribbon filter, keys is within 3 %, and never below 8.
func (i Info) Estimate() (keys, fpp float64) {
	switch {
	case i.filter == nil:
		return 0, 1
	case i.Encoding == EncodingRibbon:
		r, _ := ribbon.Parse(i.filter)
		return r.Keys, r.FPP
	}
	return rate.FromBits(8*len(i.Payload), i.K, bloom.Ones(i.Payload))
}

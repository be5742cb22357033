package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// Info is what the bytes of one filter say. Get it from [Parse].
type Info struct {
	Encoding Encoding
	// K is the number of probes per key. Of a ribbon filter it is the number of columns that all
	// slots have: a key that is not in the filter is a false positive with a probability of 2^-K or
	// less.
	K       int
	Payload []byte // the bits, of a ribbon filter also its index; a part of the filter's memory
	filter  []byte // nil if Parse returned an error
}

// The errors of [Parse], for errors.Is. Each says how readers answer for every key.
var (
	ErrShort   = errors.New("shorter than 2 bytes: the filter contains no key")
	ErrZeroK   = errors.New("k is 0: every key may be contained")
	ErrDamaged = errors.New("damaged trailer or wrong length: every key may be contained")
	// ErrReplaced means that a builder returned this filter in place of one that it could not build
	// or that [WithVerify] found broken. [Count] counts them.
	ErrReplaced = errors.New("replaced by its builder, which could not build it or found it " +
		"broken: every key may be contained")
	ErrUnknownEncoding = errors.New("unknown encoding")
)

// Parse returns what a filter says of itself. If the filter is malformed or of an unknown encoding,
// it returns an error that wraps one of the Err values and says how readers answer for every key.
// Then Info has only the Encoding, as far as it is known.
//
// It accepts any bytes and is safe for concurrent use.
func Parse(filter []byte) (Info, error) {
	if len(filter) < 2 {
		return Info{}, ErrShort
	}
	last := filter[len(filter)-1]
	e := encodingOf(last)
	switch {
	case string(filter) == builder.Replacement:
		return Info{}, ErrReplaced
	case e == nil:
		return Info{}, fmt.Errorf("%w 0x%02x: every key may be contained", ErrUnknownEncoding, last)
	}
	info, err := e.parse(filter)
	info.Encoding = e.Encoding
	if err == nil {
		info.filter = filter
	}
	return info, err
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

// Ones returns the number of bits of Payload that are set. In a ribbon filter it is about half of
// them, and says nothing of the keys.
func (i Info) Ones() int { return bloom.Ones(i.Payload) }

// Estimate estimates from the bytes of a filter how many distinct keys it has, and the probability
// that a random absent key is a false positive. keys is +Inf if all bits of the filter are set. An
// Info that came with an error has 0 keys and an fpp of 1.
//
// Both assume keys whose hashes are like random numbers: among the neighbors of dense numbers,
// LevelDB's encoding can have far more false positives. Even of random keys, its fpp is mostly too
// low: with 20 keys by a factor of 1.4 at 10 bits per key, and 17 at 20 bits per key. Bloom.FPP is
// closer, and slower. Of a ribbon filter, keys is within 3 %.
func (i Info) Estimate() (keys, fpp float64) {
	if i.filter == nil {
		return 0, 1
	}
	return encodingOf(i.filter[len(i.filter)-1]).estimate(i.filter)
}

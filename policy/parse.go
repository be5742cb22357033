package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// Info is what the bytes of one filter say. Get it from [Parse].
type Info struct {
	Encoding Encoding
	// K is the number of probes per key. Of a ribbon filter it is the number of columns that all
	// slots have: a key that is not in the filter is a false positive with a probability of 2^-K or
	// less.
	K       int
	Payload []byte       // the bits, of a ribbon filter also its index; a part of the filter's memory
	ribbon  *ribbon.Info // of a ribbon filter
}

// The errors of [Parse], for errors.Is. Each says how readers answer for every key.
var (
	ErrShort   = errors.New("shorter than 2 bytes: the filter contains no key")
	ErrZeroK   = errors.New("k is 0: every key may be contained")
	ErrDamaged = errors.New("damaged trailer or wrong length: every key may be contained")
	// ErrReplaced is of a filter that a builder returned in place of one that it could not build,
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
	array, last := filter[:len(filter)-1], filter[len(filter)-1]
	info := Info{Encoding: EncodingBloom, K: int(last), Payload: array}
	switch {
	case last <= maxProbes:
	case string(filter) == excludesNothing:
		return Info{}, ErrReplaced
	case last == byte(EncodingRibbon):
		r, ok := ribbon.Parse(filter)
		if !ok {
			return Info{Encoding: EncodingRibbon}, ErrDamaged
		}
		return Info{EncodingRibbon, r.Columns, filter[:r.Payload], &r}, nil
	default:
		return Info{}, fmt.Errorf("%w 0x%02x: every key may be contained",
			ErrUnknownEncoding, last)
	}
	if info.K == 0 {
		return Info{Encoding: info.Encoding}, ErrZeroK
	}
	return info, nil
}

// Probes appends the numbers of the bits of Payload that a lookup of key tests to dst, in the order
// of the format, and returns the extended slice. Bit p is bit p%8 of byte p/8. The key may be in
// the filter if all of them are set. Ribbon filters have no probes: a lookup adds up many bits, and
// Probes appends nothing.
func (i Info) Probes(dst []uint64, key []byte) []uint64 {
	if i.Encoding != EncodingBloom {
		return dst
	}
	nbits := 8 * uint64(len(i.Payload))
	h := Hash(key)
	delta := probeDelta(h)
	for range i.K { // none if Parse returned an error
		dst = append(dst, uint64(h)%nbits)
		h += delta
	}
	return dst
}

package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// The encodings of filters, which the last byte of a filter tells.
const (
	EncodingBloom  = "LevelDB Bloom"
	EncodingRibbon = "ribbon"
)

// Info is what the bytes of one filter say. Get it from [Parse].
type Info struct {
	Encoding string // EncodingBloom, EncodingRibbon or "unknown"
	// K is the number of probes per key, or of the columns that all slots of a ribbon filter have.
	K int
}

// Parse returns what a filter says of itself. If the filter is malformed, was replaced by its
// builder, or is of an unknown encoding, it returns an error that says how readers answer, and an
// Info that has only the Encoding.
//
// It accepts any bytes and is safe for concurrent use.
func Parse(filter []byte) (Info, error) {
	unknown := Info{Encoding: "unknown"}
	if len(filter) < 2 {
		return unknown, errors.New("shorter than 2 bytes: the filter contains no key")
	}
	switch last := filter[len(filter)-1]; {
	case string(filter) == builder.Replacement:
		return unknown, errors.New("replaced by its builder, which could not build it: " +
			"every key may be contained")
	case last == 0:
		return Info{Encoding: EncodingBloom}, errors.New("k is 0: every key may be contained")
	case last <= bloom.MaxProbes:
		return Info{EncodingBloom, int(last)}, nil
	case last == ribbon.Encoding:
		columns, ok := ribbon.Parse(filter)
		if !ok {
			return Info{Encoding: EncodingRibbon}, errors.New("damaged trailer, index or length: " +
				"all keys, or those of the damaged shards, may be contained")
		}
		return Info{EncodingRibbon, columns}, nil
	default:
		return unknown, fmt.Errorf("unknown encoding 0x%02x: every key may be contained", last)
	}
}

package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// Info is what the bytes of one filter say. Get it from [Parse].
type Info struct {
	Kind   string // "bloom" or "ribbon", as [FromString] has them, or "unknown"
	Probes int    // per key, of a Bloom filter
}

// Parse returns what a filter says of itself. If the filter is malformed, was replaced by its
// builder, or is of an unknown encoding, it returns an error that says how readers answer, and an
// Info that has only the Kind.
//
// It accepts any bytes and is safe for concurrent use.
func Parse(filter []byte) (Info, error) {
	unknown := Info{Kind: "unknown"}
	if len(filter) < 2 {
		return unknown, errors.New("shorter than 2 bytes: the filter contains no key")
	}
	switch last := filter[len(filter)-1]; {
	case string(filter) == builder.Replacement:
		return unknown, errors.New("replaced by its builder, which could not build it: " +
			"every key may be contained")
	case last == 0:
		return Info{Kind: "bloom"}, errors.New("k is 0: every key may be contained")
	case last <= bloom.MaxProbes:
		return Info{"bloom", int(last)}, nil
	case last == ribbon.Encoding:
		if _, ok := ribbon.Parse(filter); !ok {
			return Info{Kind: "ribbon"}, errors.New("damaged trailer, index or length: " +
				"all keys, or those of the damaged shards, may be contained")
		}
		return Info{Kind: "ribbon"}, nil
	default:
		return unknown, fmt.Errorf("unknown encoding 0x%02x: every key may be contained", last)
	}
}

// MayHaveMade reports whether a policy with the kind and the bits per key of p may have made a
// filter: a Bloom filter has the same number of probes, and a ribbon filter the size of one of its
// number of keys. It is false for filters that [Parse] refuses. It is safe for concurrent use.
func (p *Policy) MayHaveMade(filter []byte) bool {
	p.mustBeUsable()
	info, err := Parse(filter)
	switch {
	case err != nil || (info.Kind == "ribbon") != p.ribbon:
		return false
	case p.ribbon:
		return ribbon.MayBeOf(filter, p.setting.BitsPerKey)
	}
	return info.Probes == bloom.K(&p.setting)
}

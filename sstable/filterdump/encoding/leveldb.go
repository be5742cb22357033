package encoding

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// LevelDB reads all filters that lie under the names of LevelDB's policy, and that package policy makes and reads: the last
// byte of each says of which encoding it is. That may be [LevelDBBloom], [BlockedBloom] or an [Unknown] one.
var LevelDB Encoding = levelDB{}

type levelDB struct{}

func (levelDB) String() string { return LevelDBBloom.String() + " or " + BlockedBloom.String() }

func (levelDB) Of(filter []byte) Encoding {
	if !isReserved(filter) {
		return LevelDBBloom
	}
	switch version, encoding := filter[len(filter)-2], filter[len(filter)-1]; {
	case encoding != blockedByte:
		return Unknown{fmt.Sprintf("unknown encoding 0x%02x", encoding)}
	case version != blockedVersion:
		return Unknown{fmt.Sprintf("blocked Bloom of unknown version %d", version)}
	default:
		return BlockedBloom
	}
}

func (levelDB) MayContain(filter, key []byte) bool { return policy.MayContain(filter, key) }

func (e levelDB) Measure(filter []byte) (s Stats, ok bool) { return e.Of(filter).Measure(filter) }

func (e levelDB) Explain(filter, key []byte) Explanation { return e.Of(filter).Explain(filter, key) }

// maxProbes is the largest k of LevelDB's Bloom filters. It reserved the larger ones for encodings to come.
const maxProbes = 30

// isReserved reports whether a filter is of an encoding of the range that LevelDB reserved.
func isReserved(filter []byte) bool { return len(filter) >= 2 && filter[len(filter)-1] > maxProbes }

// Unknown is an encoding, or a version of one, that is not known here.
type Unknown struct{ name string }

var _ Encoding = Unknown{}

// String returns what of the filter tells its encoding, such as "unknown encoding 0x51".
func (u Unknown) String() string { return u.name }

// Of returns u.
func (u Unknown) Of([]byte) Encoding { return u }

// MayContain is always true.
func (u Unknown) MayContain(_, _ []byte) bool { return true }

// Measure has no statistics.
func (u Unknown) Measure([]byte) (Stats, bool) { return Stats{}, false }

// Explain has no probes.
func (u Unknown) Explain(_, _ []byte) Explanation {
	return Explanation{MayContain: true, Note: u.name + ": every key may be contained"}
}

package encoding

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// LevelDB reads all filters that lie under the names of LevelDB's policy, and that package policy makes and reads: the last
// byte of each says of which encoding it is. That may be [LevelDBBloom], [BlockedBloom], [BinaryFuse] or an [Unknown] one.
var LevelDB Encoding = levelDB{}

type levelDB struct{}

func (levelDB) String() string {
	name := LevelDBBloom.String()
	for _, r := range reserved {
		name += " or " + r.name
	}
	return name
}

func (levelDB) Of(filter []byte) Encoding {
	if !isReserved(filter) {
		return LevelDBBloom
	}
	version, kind := filter[len(filter)-2], filter[len(filter)-1]
	for _, r := range reserved {
		switch {
		case kind != r.kind:
		case version != r.version:
			return Unknown{fmt.Sprintf("%s of unknown version %d", r.name, version)}
		default:
			return r.Encoding
		}
	}
	return Unknown{fmt.Sprintf("unknown encoding 0x%02x", kind)}
}

func (levelDB) MayContain(filter, key []byte) bool { return policy.MayContain(filter, key) }

func (e levelDB) Measure(filter []byte) (s Stats, ok bool) { return e.Of(filter).Measure(filter) }

func (e levelDB) Explain(filter, key []byte) Explanation { return e.Of(filter).Explain(filter, key) }

// maxProbes is the largest k of LevelDB's Bloom filters. It reserved the larger ones for encodings to come.
const maxProbes = 30

// isReserved reports whether a filter is of an encoding of the range that LevelDB reserved.
func isReserved(filter []byte) bool { return len(filter) >= 2 && filter[len(filter)-1] > maxProbes }

// reserved are package policy's encodings in that range.
var reserved = []struct {
	ending
	Encoding
}{
	{blockedEnding, BlockedBloom},
	{fuseEnding, BinaryFuse},
}

// An ending is the last two bytes of the filters of an encoding in the reserved range.
type ending struct {
	name          string // for people
	version, kind byte
}

func (e ending) String() string { return fmt.Sprintf("%s, version %d", e.name, e.version) }

// of reports whether a filter has it.
func (e ending) of(filter []byte) bool {
	n := len(filter)
	return n >= 2 && filter[n-2] == e.version && filter[n-1] == e.kind
}

// alwaysMatches explains a filter that may contain every key.
func alwaysMatches(why string) string { return why + ": every key may be contained" }

// unfitting is why a filter of a known encoding has no bits or cells to look at.
const unfitting = "its length does not fit"

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
	return Explanation{MayContain: true, Note: alwaysMatches(u.name)}
}

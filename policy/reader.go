package policy

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// MayContain reports whether key may be one of the keys that filter was built from; LevelDB calls
// it KeyMayMatch. It reads the filters of every policy of this package, whatever their settings.
// It accepts any bytes; FORMAT.md lists its answers to malformed filters. It allocates nothing and
// is safe for concurrent use.
func MayContain(filter, key []byte) bool {
	return (*Bloom)(nil).MayContain(filter, key) // which needs no setting, and is inlined here
}

// mayContainOurs chooses what reads a filter that is not of LevelDB's encoding.
//
// LevelDB's own encoding never gets here, and a policy reads a filter of its own encoding before it
// asks: one function for all, with a jump from each policy to it, took longer for exact filters
// (`go run ./bench filters` measures them).
func mayContainOurs(filter, key []byte) bool {
	return Encoding(filter[len(filter)-1]) != EncodingRibbon ||
		ribbon.Contains(filter, keyHash(key))
}

// MayContainMany sets out[i] to MayContain(filter, keys[i]) for every key, for callers that have
// many keys for one filter: a multi-get, a join, a compaction. With 16 keys or more it takes less
// time than asking for each, above all if the keys have one length. It allocates nothing and is
// safe for concurrent use.
//
// If out is shorter than keys, it panics before it sets anything. It leaves out[len(keys):] alone.
//
// It takes keys and not their hashes, because one database may have filters of several encodings,
// which need different hashes.
func MayContainMany(filter []byte, keys [][]byte, out []bool) {
	requireRoom(keys, out)
	out = out[:len(keys)]
	last := byte(0)
	if len(filter) >= 2 {
		last = filter[len(filter)-1]
	}
	switch {
	case len(keys) < fewKeys || last < 5: // too few keys or probes to overlap, or an odd filter
		for i, key := range keys {
			out[i] = MayContain(filter, key)
		}
	case last <= maxProbes:
		bloomMayContainMany(filter, keys, out)
	case last == byte(EncodingRibbon):
		ribbonMayContainMany(filter, keys, out)
	default:
		setAll(out)
	}
}

// fewKeys is how many keys are too few for a group: clearing its memory would take longer than
// the group saves (go test ./policy -run '^$' -bench Groups, which asks for 1 to 64 keys at once).
const fewKeys = 16

func requireRoom(keys [][]byte, out []bool) {
	if len(out) < len(keys) {
		panic(fmt.Sprintf("policy: MayContainMany of %d keys with room for %d answers: "+
			"make out as long as keys", len(keys), len(out)))
	}
}

// ribbonMayContainMany reads a ribbon filter for many keys, so that their hashes and reads of memory
// overlap.
func ribbonMayContainMany(filter []byte, keys [][]byte, out []bool) {
	var hashes [hashGroup]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		for i, hash := range hashes[:n] {
			out[i] = ribbon.Contains(filter, hash)
		}
		keys, out = keys[n:], out[n:]
	}
}

// setAll answers "may contain" for every key.
func setAll(out []bool) {
	for i := range out {
		out[i] = true
	}
}

package policy

import "fmt"

// common is what all policies of this package share. They embed it first, so that a call of their
// MayContain is a jump to this one.
type common struct {
	name       string
	bitsPerKey float64
	tuning     float64 // the argument of WithTuning, or 0
}

// Name returns the name under which engines store the filters.
func (c *common) Name() string { return c.name }

// mustBeUsable panics if the policy does not come from a constructor.
func (c *common) mustBeUsable() {
	if c.name == "" {
		panic(errUnusable)
	}
}

// MayContain reports whether key may be one of the keys that filter was built from; LevelDB calls
// it KeyMayMatch. It reads the filters of every policy of this package, whatever their settings.
// It accepts any bytes; FORMAT.md lists its answers to malformed filters. It allocates nothing and
// is safe for concurrent use.
func MayContain(filter, key []byte) bool { return new(common).MayContain(filter, key) }

// MayContain reports whether key may have been added to filter. It is the function [MayContain].
//
// This switch decides what reads a filter. The two fast encodings are read right here: a call for
// either costs 10 % of a lookup (go test ./policy -run '^$' -bench MayContain/).
func (*common) MayContain(filter, key []byte) bool {
	if len(filter) < 2 {
		return false
	}
	k := filter[len(filter)-1]
	switch {
	case k <= maxProbes:
	case k == byte(EncodingBlocked):
		payload, k, ok := blockedParts(filter)
		if !ok {
			return true
		}
		h := keyHash(key)
		if len(payload) <= blockedSingle {
			return singleTest(payload, k, uint32(h))
		}
		l, x := lineOf(payload, h), uint32(h)
		if k < 4 {
			return l.rest(x, k) != 0
		}
		return l.four(x)&1 != 0 && l.rest(x*remix4, k-4) != 0
	default:
		return true // an encoding that this package does not know
	}

	// LevelDB's Bloom filter. The answer is the AND of k bits, so their order is free. Four probes
	// are tested together: tested one by one, every second branch of an absent key is a coin toss,
	// and a wrong prediction costs more than all the probes. Together they find 15 of 16 absent
	// keys if half of the bits are set, so the one branch is nearly always predicted right. Probe 2
	// waits: it takes only about 2^17 values, so in a large filter it is nearly always set.
	array := newBitArray(filter) // its division overlaps the hash
	h := hashTail(hashWords(hashStart(key), key), key)
	delta := probeDelta(h)
	if k < 5 {
		for range k {
			if array.at(h)&1 == 0 {
				return false
			}
			h += delta
		}
		return true
	}
	if array.at(h)&array.at(h+delta)&array.at(h+3*delta)&array.at(h+4*delta)&1 == 0 {
		return false
	}
	rest := array.at(h + 2*delta)
	for h += 5 * delta; k > 5; k-- {
		rest &= array.at(h)
		h += delta
	}
	return rest&1 != 0
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
	new(common).MayContainMany(filter, keys, out)
}

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (*common) MayContainMany(filter []byte, keys [][]byte, out []bool) {
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
	case last == byte(EncodingBlocked):
		blockedMayContainMany(filter, keys, out)
	default:
		setAll(out)
	}
}

// fewKeys is how many keys are too few for a group: to clear its memory would take longer than the
// group saves (go test ./policy -run '^$' -bench Groups, which asks for 1 to 64 keys at once).
const fewKeys = 16

func requireRoom(keys [][]byte, out []bool) {
	if len(out) < len(keys) {
		panic(fmt.Sprintf("policy: MayContainMany of %d keys with room for %d answers: "+
			"make out as long as keys", len(keys), len(out)))
	}
}

// setAll answers "may contain" for every key.
func setAll(out []bool) {
	for i := range out {
		out[i] = true
	}
}

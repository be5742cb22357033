package policy

import "fmt"

// A BatchReader answers for many keys at once. The policies of this package do; of another Policy, ask by a type assertion. (A
// type that embeds one of them and answers MayContain in its own way must answer MayContainMany so too.)
type BatchReader interface {
	// MayContainMany sets out[i] to MayContain(filter, keys[i]) for every key. It panics, before it sets anything, if out
	// is shorter than keys, and leaves alone what lies in out beyond len(keys).
	MayContainMany(filter []byte, keys [][]byte, out []bool)
}

// MayContainMany sets out[i] to MayContain(filter, keys[i]) for every key, for callers who have many keys for one filter: a
// multi-get, a join, a compaction. From 16 keys on it takes less time than asking for each, most of all if the keys are of one
// length. It is safe for concurrent use, and allocates nothing.
//
// It takes keys, and not their hashes, which several filters could share, because filters of different encodings need
// different hashes, and one database may have several.
//
// It panics, before it sets anything, if out is shorter than keys, and leaves alone what lies in out beyond len(keys).
func MayContainMany(filter []byte, keys [][]byte, out []bool) {
	requireRoom(keys, out)
	if len(keys) < fewKeys || len(filter) < 2 || filter[len(filter)-1] < 5 {
		for i, key := range keys { // too few keys or probes to share out, or an odd filter
			out[i] = MayContain(filter, key)
		}
		return
	}
	if filter[len(filter)-1] > maxProbes {
		reservedMayContainMany(filter, keys, out)
		return
	}
	array, k := newBitArray(filter), int(filter[len(filter)-1])
	var hashes [hashGroup]uint32
	for mostlyFound := false; len(keys) > 0; {
		n := min(len(keys), len(hashes))
		hashKeys(hashes[:n], keys[:n])
		found := 0
		if useLanes && n >= lanes {
			found = array.testInLanes(&hashes, n, k, mostlyFound, out)
		} else if mostlyFound {
			found = array.testAll(hashes[:n], k, out[:n])
		} else {
			found = array.testSome(hashes[:n], k, out[:n])
		}
		mostlyFound = found > n/2
		keys, out = keys[n:], out[n:]
	}
}

// fewKeys is how many keys are too few for a group: clearing its memory would take longer than it saves. (By `go test ./policy
// -run '^$' -bench Groups`, which asks for 1 to 64 keys at once.)
const fewKeys = 16

func requireRoom(keys [][]byte, out []bool) {
	if len(out) < len(keys) {
		panic(fmt.Sprintf("policy: MayContainMany has room for %d answers, but %d keys: make out as long as keys", len(out), len(keys)))
	}
}

// testSome sets out[i] to whether all k probes of hashes[i] are set, and returns how often they are. It suits keys of
// which few are found: two probes are tested for every key, the others only for those that pass, a quarter of the absent
// keys. No branch depends on a probe. REQUIRES: k >= 5, at most hashGroup hashes, and as many places in out.
func (a bitArray) testSome(hashes []uint32, k int, out []bool) (found int) {
	var passed [hashGroup]uint8
	n := uint(0)
	out = out[:len(hashes)]
	for i, h := range hashes {
		out[i] = false
		passed[n%hashGroup] = uint8(i) // stays if this key passes
		n += uint(a.at(h) & a.at(h+probeDelta(h)) & 1)
	}
	for _, i := range passed[:n] {
		h := hashes[i]
		delta := probeDelta(h)
		all := a.at(h+2*delta) & a.at(h+3*delta) & a.at(h+4*delta)
		h += 5 * delta
		for j := k; j > 5; j-- {
			all &= a.at(h)
			h += delta
		}
		out[i] = all&1 != 0
		found += int(all & 1)
	}
	return found
}

// testAll does the same for keys of which most are found: it tests all probes of every key.
func (a bitArray) testAll(hashes []uint32, k int, out []bool) (found int) {
	out = out[:len(hashes)]
	for i, h := range hashes {
		delta := probeDelta(h)
		all := a.at(h) & a.at(h+delta) & a.at(h+2*delta) & a.at(h+3*delta) & a.at(h+4*delta)
		h += 5 * delta
		for j := k; j > 5; j-- {
			all &= a.at(h)
			h += delta
		}
		out[i] = all&1 != 0
		found += int(all & 1)
	}
	return found
}

// testInLanes does the same for either kind by assembly: it tests two probes of every key, two more of those that pass, and
// so on. REQUIRES: as many places in out as hashes.
func (a bitArray) testInLanes(hashes *[hashGroup]uint32, n, k int, mostlyFound bool, out []bool) (found int) {
	bytes, reciprocal := a.laneModulus()
	out = out[:n]
	clear(out)
	places := ascending // of the hashes that are left
	step := 2
	if mostlyFound {
		step = k
	}
	for from := 0; from < k && n > 0; from += step {
		n = testLanes((*byte)(a.first), bytes, reciprocal, &hashes[0], &places[0], n, from, min(from+step, k))
	}
	for _, i := range places[:n] {
		out[i] = true
	}
	return n
}

// ascending holds the numbers from 0.
var ascending = func() (a [hashGroup]uint32) {
	for i := range a {
		a[i] = uint32(i)
	}
	return a
}()

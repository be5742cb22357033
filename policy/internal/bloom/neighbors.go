package bloom

import (
	"math"

	"github.com/levelbloom/levelbloom/policy/internal/absent"
)

const (
	maxNeighbors = 512 // absent keys that lie between a builder's own
	maxPerGap    = 6   // of these, between two keys
	maxVaried    = 3   // bytes from the first to the last in which near neighbors differ, at most
	neighborRun  = 8   // pairs of keys that are compared before some may be left out
)

// neighbors finds absent keys between present ones (package absent), and keeps their hashes.
type neighbors struct {
	hashes []uint32
	last   []byte // the last key
	run    int    // keys in a row so far; 0 if there is no last key
	near   bool   // some of them are near neighbors
	pairs  int    // pairs of keys compared
	skip   int    // runs left out for each run that is compared
	pause  int    // keys to leave out now

	suffix int        // the least number of bytes after the place where near neighbors differ
	widest absent.Gap // of those met, one whose numbers have the most digits
}

func (a *neighbors) reset() {
	*a = neighbors{hashes: a.hashes[:0], last: a.last[:0], suffix: math.MaxInt}
}

// add takes the next key.
func (a *neighbors) add(key []byte) {
	if a.run > 0 {
		a.pairs++
		a.compare(a.last, key)
	}
	a.last = append(a.last[:0], key...)
	if a.run++; a.run > neighborRun {
		a.endRun()
	}
}

// endRun decides how many keys to leave out. Keys without near neighbors need no tuning: few of
// them are compared. A large filter is judged by a sample from all over its keys: when there are
// enough absent keys, half of them stay, and from then on half as many runs are compared.
func (a *neighbors) endRun() {
	switch {
	case max(a.pairs, len(a.hashes)) >= maxNeighbors-2*neighborRun:
		half := a.hashes[:len(a.hashes)/2]
		for i := range half {
			half[i] = a.hashes[2*i]
		}
		a.hashes = half
		a.pairs /= 2
		a.skip = 2*a.skip + 1
	case !a.near:
		a.skip = 2*a.skip + 3
	}
	a.run, a.near = 1, false
	if a.skip > 0 {
		a.run, a.pause = 0, a.skip*neighborRun
	}
}

// compare makes the absent keys between two keys, in the memory of key.
func (a *neighbors) compare(key, next []byte) {
	gap := absent.Between(key, next, maxVaried)
	switch {
	case gap.From == gap.To: // a key twice, or keys of two lengths
		return
	case key[gap.From] > next[gap.From]: // not in order: no more keys
		a.hashes, a.pause, a.run = a.hashes[:0], math.MaxInt, 0
		return
	case gap.Radix() == 0: // far apart
		return
	}
	a.near, a.suffix = true, min(a.suffix, len(key)-gap.To)
	if gap.Radix() > a.widest.Radix() {
		a.widest = gap
	}
	room := uint64(min(maxPerGap, maxNeighbors-len(a.hashes)))
	words := gap.From &^ 3
	state, rest := HashWords(HashStart(key), key[:words]), key[words:]
	for i := range min(gap.Len, room) {
		gap.Put(key, i)
		a.hashes = append(a.hashes, HashTail(HashWords(state, rest), rest))
	}
}

// addBeyond makes n absent keys after the last one if no key was left out.
func (a *neighbors) addBeyond(n int) {
	if a.skip > 0 || a.widest.Radix() == 0 {
		return
	}
	gap := a.widest.After(a.last, max(0, len(a.last)-a.suffix))
	for i := range min(gap.Len, uint64(n)) {
		gap.Put(a.last, i)
		a.hashes = append(a.hashes, Hash(a.last))
	}
}

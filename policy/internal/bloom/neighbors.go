package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	maxNeighbors = 512 // absent keys that lie between a builder's own
	maxPerGap    = 6   // of these, between two keys
	maxVaried    = 3   // bytes from the first to the last in which near neighbors differ, at most
	neighborRun  = 8   // pairs of keys that are compared before some may be left out
)

// neighbors makes absent keys out of present ones and keeps their hashes.
//
// Between two present keys it counts from the one to the next, at the last place where they differ.
// So it finds the digits before a suffix, and the first bytes of little-endian numbers.
type neighbors struct {
	hashes []uint32
	last   []byte // the last key
	run    int    // keys in a row so far; 0 if there is no last key
	near   bool   // some of them are near neighbors
	pairs  int    // pairs of keys compared
	skip   int    // runs left out for each run that is compared
	pause  int    // keys to leave out now

	suffix int           // the least number of bytes behind the place where near neighbors differ
	count  *numberSystem // how they count there, as far as is known
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
	if len(key) != len(next) {
		return
	}
	from, to := difference(key, next)
	if from == to {
		return // a key twice
	}
	if key[from] > next[from] { // not in order: no more keys
		a.hashes, a.pause, a.run = a.hashes[:0], math.MaxInt, 0
		return
	}
	if to-from > maxVaried {
		return
	}
	a.near, a.suffix = true, min(a.suffix, len(key)-to)
	count := numberSystemOf(key[to-1], next[to-1])
	if a.count == nil || len(count.digits) > len(a.count.digits) {
		a.count = count
	}
	if to-from == 1 && key[from]+1 == next[from] {
		return // the most frequent case among dense keys: none between
	}
	room := min(maxPerGap, maxNeighbors-len(a.hashes))
	words := from &^ 3
	state, rest := HashWords(HashStart(key), key[:words]), key[words:]
	place, end := key[from:to], next[from:to]
	for ; room > 0 && count.up(place) && string(place) < string(end); room-- {
		a.hashes = append(a.hashes, HashTail(HashWords(state, rest), rest))
	}
}

// addBeyond makes n absent keys after the last one if no key was left out.
func (a *neighbors) addBeyond(n int) {
	if a.skip > 0 || a.count == nil {
		return
	}
	place := a.last[:max(0, len(a.last)-a.suffix)]
	for ; n > 0 && a.count.up(place); n-- {
		a.hashes = append(a.hashes, Hash(a.last))
	}
}

// difference returns the first byte in which two keys of one length differ, and the one behind the
// last; both are the same if the keys are equal.
func difference(a, b []byte) (from, to int) {
	for ; from+8 <= len(a); from += 8 {
		d := binary.LittleEndian.Uint64(a[from:]) ^ binary.LittleEndian.Uint64(b[from:])
		if d != 0 {
			from += bits.TrailingZeros64(d) / 8
			break
		}
	}
	for from < len(a) && a[from] == b[from] {
		from++
	}
	for to = len(a); to > from && a[to-1] == b[to-1]; {
		to--
	}
	return from, to
}

// A numberSystem is how characters count.
type numberSystem struct {
	digits string
	next   [256]byte // the digit after each digit, the first after the last; others stay
}

// numberSystems is decimal, hexadecimal, and bytes.
var numberSystems = func() (all [4]numberSystem) {
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for i, digits := range [...]string{
		"0123456789", "0123456789abcdef", "0123456789ABCDEF", string(bytes[:]),
	} {
		all[i] = numberSystem{digits, bytes}
		for j := range digits {
			all[i].next[digits[j]] = digits[(j+1)%len(digits)]
		}
	}
	return all
}()

func (s *numberSystem) has(c byte) bool { return s.next[c] != c }

// numberSystemOf returns the smallest one that has both characters.
func numberSystemOf(x, y byte) *numberSystem {
	i := 0
	for !numberSystems[i].has(x) || !numberSystems[i].has(y) {
		i++ // the last one has all
	}
	return &numberSystems[i]
}

// up adds 1 to a number, with carry. It returns false if it meets another character or the number
// was the highest.
func (s *numberSystem) up(number []byte) bool {
	for i := len(number) - 1; i >= 0 && s.has(number[i]); i-- {
		number[i] = s.next[number[i]]
		if number[i] != s.digits[0] {
			return true
		}
	}
	return false
}

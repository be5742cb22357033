package policy

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	maxNeighbors = 512 // absent keys that lie between a builder's own
	maxVaried    = 3   // bytes from the first to the last in which near neighbors differ, at most
	neighborRun  = 64  // keys in a row that are compared before some may be left out
)

// neighbors makes absent keys out of present ones and keeps their hashes.
//
// Between two present keys it counts from the one to the next, at the last place where they differ.
// So it finds the digits before a suffix, and the first bytes of little-endian numbers. If both
// keys have decimal digits there, it counts in decimal; if both have hexadecimal digits, in
// hexadecimal; otherwise in bytes.
type neighbors struct {
	hashes []uint32
	last   []byte // the last key
	run    int    // keys in a row so far; 0 if there is no last key
	pairs  int    // pairs of keys compared
	skip   int    // runs left out for each run that is compared
	pause  int    // keys to leave out now
	before int    // hashes before this run

	prefix int    // bytes of last that state has hashed, or -1
	state  uint32 // a hash under way
	// How the last near neighbors differ: the bytes behind the place, and the characters there.
	suffix       int
	lower, upper byte
}

func (a *neighbors) reset() {
	*a = neighbors{hashes: a.hashes[:0], last: a.last[:0], prefix: -1, suffix: math.MaxInt}
}

// add takes the next key.
func (a *neighbors) add(key []byte) {
	if a.run > 0 {
		a.pairs++
		a.compare(a.last, key)
		if a.pause > 0 {
			return // not in order
		}
	}
	a.last = append(a.last[:0], key...)
	a.run++
	if a.run > neighborRun {
		a.endRun()
	}
}

// endRun decides how many keys to leave out. A large filter is judged by a sample from all over its
// keys: when there are enough absent keys, half of them stay, and from then on half as many runs
// are compared.
func (a *neighbors) endRun() {
	full := max(a.pairs, len(a.hashes)) >= maxNeighbors-neighborRun*2
	if full {
		half := a.hashes[:len(a.hashes)/2]
		for i := range half {
			half[i] = a.hashes[2*i]
		}
		a.hashes = half
		a.pairs /= 2
	}
	if full || len(a.hashes) == a.before { // no near neighbors, or no gaps
		a.skip = 2*a.skip + 1
	}
	a.before = len(a.hashes)
	a.run = 1
	if a.skip > 0 {
		a.run, a.pause, a.prefix = 0, a.skip*neighborRun, -1
	}
}

// compare makes the absent keys between two keys, in the memory of key.
func (a *neighbors) compare(key, next []byte) {
	if len(key) != len(next) {
		a.prefix = -1
		return
	}
	if n := len(key) - 8; n >= 0 { // the two most frequent cases, fast
		x, y := binary.BigEndian.Uint64(key[n:]), binary.BigEndian.Uint64(next[n:])
		if y-x == 1 && byte(y) != 0 { // dense keys, with none between
			a.suffix = 0
			return
		}
		if byte(x) != byte(y) && key[0] != next[0] { // random keys
			a.prefix = -1
			return
		}
	}
	from, to := difference(key, next)
	if from == to {
		return // a key twice
	}
	if key[from] > next[from] {
		a.hashes, a.pause = a.hashes[:0], math.MaxInt // not in order
		return
	}
	if from < a.prefix {
		a.prefix = -1
	}
	if to-from > maxVaried {
		return
	}
	a.suffix, a.lower, a.upper = min(a.suffix, len(key)-to), key[to-1], next[to-1]
	// Wide gaps are filled more than once, but not so often that it takes long.
	room := min(1+a.pairs*3/2, maxNeighbors) - len(a.hashes)
	if p := from &^ 3; p != a.prefix {
		a.prefix, a.state = p, hashWords(hashStart(key), key[:p])
	}
	count := alphabetOf(a.lower, a.upper)
	place, end, rest := key[from:to], next[from:to], key[a.prefix:]
	for ; room > 0 && count.up(place) && string(place) < string(end); room-- {
		a.hashes = append(a.hashes, hashTail(hashWords(a.state, rest), rest))
	}
}

// addBeyond makes n absent keys after the last one if no key was left out.
func (a *neighbors) addBeyond(n int) {
	if a.skip > 0 {
		return
	}
	place := a.last[:max(0, len(a.last)-a.suffix)]
	if a.lower == a.upper && len(place) > 0 { // none differ but by 1
		a.lower = place[len(place)-1]
		a.upper = a.lower
	}
	count := alphabetOf(a.lower, a.upper)
	for ; n > 0 && count.up(place); n-- {
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

// An alphabet says how characters count.
type alphabet byte

const (
	decimal  alphabet = 0
	lowerHex alphabet = 'a' // after '9'
	upperHex alphabet = 'A'
	anyByte  alphabet = 255
)

// alphabetOf returns the smallest alphabet that has both characters.
func alphabetOf(x, y byte) alphabet {
	for _, a := range [...]alphabet{decimal, lowerHex, upperHex} {
		if a.has(x) && a.has(y) {
			return a
		}
	}
	return anyByte
}

func (a alphabet) has(c byte) bool { return c-'0' < 10 || a != decimal && c-byte(a) < 6 }

// up counts up by 1, with carry. It returns false after the highest number.
func (a alphabet) up(number []byte) bool {
	for i := len(number) - 1; i >= 0; i-- {
		number[i] = a.next(number[i])
		if number[i] != a.zero() {
			return true
		}
	}
	return false
}

func (a alphabet) next(c byte) byte {
	switch {
	case a == anyByte:
		return c + 1
	case c == '9' && a != decimal:
		return byte(a)
	case c == '9', a != decimal && c == byte(a)+5:
		return '0'
	}
	return c + 1
}

func (a alphabet) zero() byte {
	if a == anyByte {
		return 0
	}
	return '0'
}

package policy

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	maxNeighbors = 1024 // absent keys of a builder
	// maxVaried is in how many bytes keys differ at most from the next to be near neighbors.
	maxVaried = 3
)

// neighbors makes absent keys out of present ones, and keeps their hashes.
//
// Between two keys in order it counts from one to the next, in the last place where they differ. So
// it finds the digits before a suffix, and the first bytes of little-endian numbers. Where both keys
// have decimal digits there, it counts decimally, where they have hexadecimal ones,
// hexadecimally, and otherwise in bytes.
type neighbors struct {
	hashes []uint32
	pairs  int // of keys that were compared
	// Of large filters only every skip+1st batch is compared.
	skip, skipped int
	unsorted      bool

	prefix int    // bytes of the keys that state has hashed, or -1
	state  uint32 // of a hash
	// How the last near neighbors differ: bytes after the place, and the characters there.
	suffix       int
	lower, upper byte
}

func (a *neighbors) reset() {
	*a = neighbors{hashes: a.hashes[:0], prefix: -1, suffix: math.MaxInt}
}

// addBatch compares each of the keys with the next. It writes over all but the last key.
func (a *neighbors) addBatch(keys [][]byte) {
	if a.skipped < a.skip || a.unsorted {
		a.skipped++
		return
	}
	a.skipped, a.prefix = 0, -1
	for i := 1; i < len(keys) && !a.unsorted; i++ {
		a.pairs++
		key, next := keys[i-1], keys[i]
		if n := len(next) - 8; n >= 0 && len(key) == len(next) &&
			binary.BigEndian.Uint64(next[n:])-binary.BigEndian.Uint64(key[n:]) == 1 {
			a.suffix = 0 // most dense keys follow each other at once, with none between
			continue
		}
		a.addBetween(key, next)
	}
	if a.pairs >= maxNeighbors-tuningBatch || len(a.hashes) >= maxNeighbors-2*tuningBatch {
		half := a.hashes[:len(a.hashes)/2]
		for i := range half {
			half[i] = a.hashes[2*i]
		}
		a.hashes = half
		a.pairs /= 2
		a.skip = 2*a.skip + 1
	}
}

// addBetween makes the absent keys between two keys, in the memory of key.
func (a *neighbors) addBetween(key, next []byte) {
	if len(key) != len(next) {
		a.prefix = -1
		return
	}
	from, to := difference(key, next)
	if from == to {
		return // a key twice
	}
	if key[from] > next[from] {
		a.unsorted, a.hashes = true, a.hashes[:0]
		return
	}
	if from < a.prefix {
		a.prefix = -1
	}
	if to-from > maxVaried {
		return
	}
	a.suffix, a.lower, a.upper = min(a.suffix, len(key)-to), key[to-1], next[to-1]
	room := 1 + a.pairs*3/2 - len(a.hashes) // so that wide gaps take not too much time
	if p := from &^ 3; p != a.prefix {
		a.prefix, a.state = p, hashWords(hashStart(key), key[:p])
	}
	count := alphabetOf(a.lower, a.upper)
	place, end, rest := key[from:to], string(next[from:to]), key[a.prefix:]
	for ; room > 0 && count.up(place) && string(place) < end; room-- {
		a.hashes = append(a.hashes, hashTail(hashWords(a.state, rest), rest))
	}
}

// addBeyond makes n absent keys after the last one, in its memory.
func (a *neighbors) addBeyond(last []byte, n int) {
	place := last[:max(0, len(last)-a.suffix)]
	if a.lower == a.upper && len(place) > 0 { // none differ but by 1
		a.lower = place[len(place)-1]
		a.upper = a.lower
	}
	count := alphabetOf(a.lower, a.upper)
	for ; n > 0 && count.up(place); n-- {
		a.hashes = append(a.hashes, Hash(last))
	}
}

// difference returns the first byte in which two keys of one length differ, and the one behind the
// last; both are the same if the keys are equal.
func difference(a, b []byte) (from, to int) {
	if n := len(a) - 8; n >= 0 { // fast, as most keys differ in their last 8 bytes
		d := binary.BigEndian.Uint64(a[n:]) ^ binary.BigEndian.Uint64(b[n:])
		if d != 0 && string(a[:n]) == string(b[:n]) {
			return n + bits.LeadingZeros64(d)/8, len(a) - bits.TrailingZeros64(d)/8
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

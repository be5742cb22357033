// Package absent makes absent keys between present ones: the keys that a program with numbers as
// keys would look up. If keys are not numbers, these are as good as random ones.
//
// LevelDB's hash does not scatter keys that differ in few bits, so the false-positive rate of a
// filter depends on which absent keys are looked up. Random ones show the rate of the textbook
// where the neighbors of present keys have twenty times as many false positives.
package absent

// A Gap is the absent keys between two neighbors. It counts from the one to the next where they
// differ: so it finds the digits before a suffix, and the first bytes of little-endian numbers.
type Gap struct {
	// Len is the number of keys; 0 if there are none.
	Len uint64

	// from and to are the first byte and the one after the last in which the neighbors differ, or,
	// where they differ in a long number, in which the keys between differ from them.
	from, to int

	count *system
	low   uint64 // the lower neighbor's number
}

// Between returns the gap between two keys. It is empty if they are not of one length, or if low is
// not below high.
func Between(low, high []byte) (g Gap) {
	if len(low) != len(high) {
		return g
	}
	g.from, g.to = difference(low, high)
	if g.from == g.to || low[g.from] > high[g.from] {
		return g
	}
	g.count = systemOf(low[g.from:g.to], high[g.from:g.to])
	g.to = min(g.to, g.from+g.count.most)
	g.low = g.count.number(low[g.from:g.to])
	g.Len = g.count.number(high[g.from:g.to]) - g.low - 1
	return g
}

// Put turns key, a copy of the lower neighbor, or what Put has made of it, into key i of the gap.
// They ascend. REQUIRES: i < g.Len.
func (g *Gap) Put(key []byte, i uint64) { g.count.put(key[g.from:g.to], g.low+1+i) }

// difference returns the first byte in which two keys of one length differ, and the one after the
// last; both are the same if the keys are equal.
func difference(a, b []byte) (from, to int) {
	for from < len(a) && a[from] == b[from] {
		from++
	}
	for to = len(a); to > from && a[to-1] == b[to-1]; {
		to--
	}
	return from, to
}

// A system is how characters count.
type system struct {
	digits string
	most   int // digits of the longest numbers that a uint64 has
	values [256]int16
}

// systems are decimal, hexadecimal, and bytes.
var systems = func() (all [4]system) {
	var every [256]byte
	for i := range every {
		every[i] = byte(i)
	}
	for i, digits := range [...]string{
		"0123456789", "0123456789abcdef", "0123456789ABCDEF", string(every[:]),
	} {
		s := &all[i]
		s.digits, s.most = digits, [...]int{19, 16, 16, 8}[i]
		for c := range s.values {
			s.values[c] = -1
		}
		for value := range len(digits) {
			s.values[digits[value]] = int16(value)
		}
	}
	return all
}()

func (s *system) has(c byte) bool { return s.values[c] >= 0 }

// systemOf returns the first system that has all characters in which the two differ: as many as
// make a number in it.
func systemOf(low, high []byte) *system {
next:
	for i := range systems {
		s := &systems[i]
		for j := range min(len(low), s.most) {
			if low[j] != high[j] && !(s.has(low[j]) && s.has(high[j])) {
				continue next
			}
		}
		return s
	}
	panic("the last system has all characters")
}

// number returns the number that place stands for. Other characters than digits, such as the dashes
// of a UUID, stand in all keys of a gap.
func (s *system) number(place []byte) (n uint64) {
	for _, c := range place {
		if v := s.values[c]; v >= 0 {
			n = n*uint64(len(s.digits)) + uint64(v)
		}
	}
	return n
}

// put writes a number over the digits of place.
func (s *system) put(place []byte, n uint64) {
	radix := uint64(len(s.digits))
	for i := len(place) - 1; i >= 0; i-- {
		if s.has(place[i]) {
			place[i] = s.digits[n%radix]
			n /= radix
		}
	}
}

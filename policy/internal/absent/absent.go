// Package absent finds absent keys between present ones: the keys that a program with numbers as
// keys would look up. If keys are not numbers, these are as good as random ones.
//
// LevelDB's hash does not scatter keys that differ in few bits, so the false-positive rate of a
// filter depends on which absent keys are looked up. Random ones can show the rate of the textbook
// while the neighbors of present keys have twenty times as many false positives.
package absent

// A Gap is the absent keys between two neighboring keys. It counts up from one to the other in the
// bytes where they differ, so it finds numbers before a suffix too, and little-endian numbers.
type Gap struct {
	// From and To are the first byte in which the neighbors differ and the one after the last. If
	// they differ in a long number, only its first digits count, and To is the byte after these.
	From, To int
	// Len is the number of keys; 0 if there are none.
	Len uint64

	count *system
	low   uint64 // the lower neighbor's number
}

// Between returns the gap between two keys. It is empty if their lengths differ, if low is not
// below high, or if more than most bytes lie from the first to the last in which they differ.
func Between(low, high []byte, most int) (g Gap) {
	if len(low) != len(high) {
		return g
	}
	g.From, g.To = difference(low, high)
	if g.From == g.To || low[g.From] > high[g.From] || g.To-g.From > most {
		return g
	}
	g.count = systemOf(low[g.From:g.To], high[g.From:g.To])
	g.To = min(g.To, g.From+g.count.most)
	g.low = g.count.number(low[g.From:g.To])
	g.Len = g.count.number(high[g.From:g.To]) - g.low - 1
	return g
}

// Put turns key, which is a copy of the lower neighbor or the result of another Put, into key i of
// the gap. The keys ascend. REQUIRES: i < g.Len.
func (g *Gap) Put(key []byte, i uint64) { g.count.put(key[g.From:g.To], g.low+1+i) }

// Radix returns the base of the gap's numbers, or 0 if Between found no gap.
func (g *Gap) Radix() int {
	if g.count == nil {
		return 0
	}
	return len(g.count.digits)
}

// After returns the keys that follow key. It counts as g does, in the number that ends before byte
// end. REQUIRES: g.Radix() > 0.
func (g *Gap) After(key []byte, end int) Gap {
	after := Gap{From: end, To: end, count: g.count}
	highest := uint64(1)
	for after.From > 0 && end-after.From < g.count.most && g.count.has(key[after.From-1]) {
		after.From--
		highest *= uint64(len(g.count.digits)) // 2^64 becomes 0
	}
	after.low = g.count.number(key[after.From:end])
	after.Len = highest - 1 - after.low
	return after
}

// difference returns the first byte in which two keys of equal length differ, and the one after the
// last. The two are equal if the keys are.
func difference(a, b []byte) (from, to int) {
	for from < len(a) && a[from] == b[from] {
		from++
	}
	for to = len(a); to > from && a[to-1] == b[to-1]; {
		to--
	}
	return from, to
}

// A system is a positional number system.
type system struct {
	digits string
	most   int        // digits in the longest numbers that fit into a uint64
	values [256]int16 // of characters as digits, or -1
}

// systems are decimal, hexadecimal (lower and upper case), and bytes.
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

// systemOf returns the first system whose digits include all characters in which low and high
// differ. It looks at as many characters as a number of the system has.
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

// number returns the number in place. It skips characters that are no digits, such as the dashes of
// a UUID, which are the same in all keys of a gap.
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

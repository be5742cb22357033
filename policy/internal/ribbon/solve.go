package ribbon

import "math/bits"

const (
	maxSlots  = maxShardKeys + 7 // whole octets
	maxOctets = maxSlots/8 + 1   // including a partial one
	maxStarts = maxOctets - spanOctets + 1
)

// A solver solves the equations of one shard: load, eliminate, substitute. It goes by quads of four
// slots. A row's coefficients in the current quad are the top four bits of coeffs.
type solver struct {
	slots  int
	quads  int
	last   int // the last start
	rows   [maxShardKeys]row
	first  [maxStarts]int16    // row with each start, or -1
	next   [maxShardKeys]int16 // next with the same start, or -1
	active [maxShardKeys]row   // eliminate: rows that reach the quad and were not picked
	count  int                 // of active
	sums   [2 * maxOctets]sums
	tables [2 * maxOctets][16]uint64 // substitute: the sums of the values of a quad's slots
	values [maxOctets][8]uint64      // substitute: bit j < 41 is the slot's bit in column j
}

// A row is an equation, or a sum of equations. fp is the fingerprint of 41 bits, and above it the
// 11 bits of the variants, which are 0 unless the key varies. A row without coefficients is a
// contradiction if any of the 52 bits is 1. Testing 41 bits would suffice, but the choice of the
// seed is part of the format.
type row struct{ coeffs, fp uint64 }

func (r row) plus(o row) row { return row{r.coeffs ^ o.coeffs, r.fp ^ o.fp} }

// sums holds the 16 sums of four rows, indexed by their coefficients in the quad. It keeps only the
// coefficients of the slots before the quad, the next quad's on top.
type sums [16]row

func (s *sums) put(r row) { s[r.coeffs>>60] = row{r.coeffs << 4, r.fp} }

// load draws the equations of keys for the seeds of one multiplier, and lists them by start. A span
// with start s ends in quad 2*s + 15, unless the end of the table cuts it off. That happens only at
// the last start, as slots > 8*s.last + 56 if there are others. load shifts those coefficients so
// that the last quad's are on top.
func (s *solver) load(hashes []uint64, multiplier uint64, slots int) {
	s.slots, s.quads = slots, (slots+3)/4
	s.last = max(0, slots-spanSlots+7) / 8
	for i := range s.first[:s.last+1] {
		s.first[i] = -1
	}
	missing := 8*s.last + spanSlots - 4*s.quads // slots of the last span after the last quad
	for i, hash := range hashes {
		start, coeffs, fp := equation(hash, multiplier, uint(slots))
		if int(start) == s.last {
			coeffs <<= missing
		}
		s.rows[i] = row{coeffs, fp}
		s.next[i] = s.first[start]
		s.first[start] = int16(i)
	}
}

// eliminate brings the rows into echelon form, from the last quad to the first. When it gets to a
// quad, no active row has coefficients beyond it. eliminate returns the first variant with which
// the rows are consistent, if any.
func (s *solver) eliminate() (variant uint64, ok bool) {
	s.count = 0
	start := s.last
	for q := s.quads - 1; q > 0; q-- {
		for ; start >= 0 && q <= 2*start+15; start-- { // their spans reach to this quad
			for i := s.first[start]; i >= 0; i = s.next[i] {
				s.active[s.count] = s.rows[i]
				s.count++
			}
		}
		s.pick(q)
		sums := &s.sums[q]
		for i := range s.active[:s.count] {
			r := &s.active[i]
			sum := &sums[r.coeffs>>60]
			r.coeffs = r.coeffs<<4 ^ sum.coeffs
			r.fp ^= sum.fp
		}
	}
	for variant := range uint64(variants) {
		if s.consistent(variant) {
			for i := range s.active[:s.count] {
				s.active[i].coeffs ^= varied(s.active[i].fp, variant) << 60
			}
			s.pick(0)
			return variant, true
		}
	}
	return 0, false
}

const each4 = 0x1111111111111111 // bit 0 of each of the 16 parts of a word

// withPick has bit 0 of each part i for which bit n of i is 1.
var withPick = [4]uint64{
	0x1010101010101010, 0x1100110011001100, 0x1111000011110000, 0x1111111100000000,
}

// pick removes from the active rows four whose coefficients in the quad are independent, and sets
// the quad's sums. Adding sum c to an active row with the coefficients c in the quad then leaves 0
// there.
//
// known lists the coefficients of all sums of picks, in 16 parts of 4 bits. Part i is the sum of
// the picks n for which bit n of i is 1; picks to come count as 0. One multiplication adds a pick
// to half of the parts. Its coefficients are at most 15, and a part of withPick is at most 1: each
// part of the product is at most 15, and nothing carries. A row is independent of the picks if no
// part equals its coefficients.
//
// If fewer than four active rows are independent, pick adds rows "slot i is 0", from the quad's
// first slot on. At slot i, each earlier slot is alone in some sum. If i is the last slot of a sum,
// adding these leaves i alone, so its coefficient is known. Otherwise the row "slot i is 0" is
// independent, and slot i is no pivot.
func (s *solver) pick(q int) {
	if s.count == 0 { // often, in filters of few keys
		s.sums[q] = sums{} // of four rows "slot i is 0"
		return
	}
	var picks [4]row
	known, n := uint64(0), 0
	for i := 0; i < s.count && n < len(picks); {
		r := s.active[i]
		if isKnown(known, r.coeffs>>60) {
			i++
			continue
		}
		known ^= r.coeffs >> 60 * withPick[n]
		picks[n] = r
		n++
		s.count--
		s.active[i] = s.active[s.count]
	}
	for i := uint64(0); n < len(picks); i++ {
		if c := uint64(1) << i; !isKnown(known, c) {
			known ^= c * withPick[n]
			picks[n] = row{c << 60, 0}
			n++
		}
	}
	a, b, c, d := picks[0], picks[1], picks[2], picks[3]
	cd := c.plus(d)
	sums := &s.sums[q]
	for _, r := range [4]row{{}, a, b, a.plus(b)} {
		sums.put(r)
		sums.put(r.plus(c))
		sums.put(r.plus(d))
		sums.put(r.plus(cd))
	}
}

// isKnown reports whether one of the 16 parts of known is c, that is, one of x is 0. If none is,
// x - each4 borrows nothing, and a part's top bit is 1 only if it is 1 in x. If one is, the lowest
// such part becomes 15: its top bit is 1, but 0 in x.
func isKnown(known, c uint64) bool {
	x := known ^ c*each4
	return (x-each4)&^x&(each4<<3) != 0
}

// consistent reports whether the active rows are free of contradictions with a variant. They have
// coefficients in the first quad only.
func (s *solver) consistent(variant uint64) bool {
	var pivots [8]row // by the length of their coefficients in the quad, 1 to 4 bits
	for _, r := range s.active[:s.count] {
		r.coeffs = r.coeffs>>60 ^ varied(r.fp, variant)
		p := &pivots[bits.Len64(r.coeffs)%8]
		for r.coeffs != 0 && p.coeffs != 0 {
			r = r.plus(*p)
			p = &pivots[bits.Len64(r.coeffs)%8]
		}
		if r.coeffs == 0 && r.fp != 0 {
			return false
		}
		*p = r
	}
	return true
}

// substitute computes the values of the slots, from the first quad to the last. For each slot, it
// takes the sum that has no other slot of the quad: the value is the fingerprint of that sum, plus
// the values of its other slots, which precede the quad. If the slot is no pivot, that sum is "slot
// i is 0".
func (s *solver) substitute(variant uint64) {
	front := &s.tables[0]
	for q := range s.quads {
		sums := &s.sums[q]
		a, b, c, d := sums[1], sums[2], sums[4], sums[8]
		if q > 0 { // eliminate did not add what the variant adds to these rows
			a.fp ^= front[varied(a.fp, variant)]
			b.fp ^= front[varied(b.fp, variant)]
			c.fp ^= front[varied(c.fp, variant)]
			d.fp ^= front[varied(d.fp, variant)]
		}
		for at := q - 1; a.coeffs|b.coeffs|c.coeffs|d.coeffs != 0; at-- {
			before := &s.tables[at]
			a = row{a.coeffs << 4, a.fp ^ before[a.coeffs>>60]}
			b = row{b.coeffs << 4, b.fp ^ before[b.coeffs>>60]}
			c = row{c.coeffs << 4, c.fp ^ before[c.coeffs>>60]}
			d = row{d.coeffs << 4, d.fp ^ before[d.coeffs>>60]}
		}
		w, x, y, z := a.fp, b.fp, c.fp, d.fp
		*(*[4]uint64)(s.values[q/2][q%2*4:]) = [4]uint64{w, x, y, z}
		wx, yz := w^x, y^z
		s.tables[q] = [16]uint64{
			0, w, x, wx, y, y ^ w, y ^ x, y ^ wx, z, z ^ w, z ^ x, z ^ wx, yz, yz ^ w, yz ^ x, yz ^ wx,
		}
	}
}

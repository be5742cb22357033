package ribbon

import (
	"math/bits"
	"slices"
)

const (
	maxSlots  = maxShardKeys + 7
	maxBlocks = maxSlots/8 + 1
	maxStarts = maxBlocks - windowBlocks + 1
)

// A solver solves the equations of one shard: load them, eliminate, substitute. It works on four
// slots at a time, a quad; rows keep their coefficients such that those of the current quad are the
// top four bits.
type solver struct {
	slots  int
	quads  int
	last   int // the last start
	rows   [maxShardKeys]row
	first  [maxStarts]int16    // row with each start, or -1
	next   [maxShardKeys]int16 // next with the same start, or -1
	active [maxShardKeys]row   // eliminate: window reached, no pivot yet
	count  int                 // of active
	sums   [16]row             // eliminate: by the coefficients in the quad
	pivots [2 * maxBlocks][4]row
	values [maxBlocks][8]uint64 // substitute: bit j is the slot's bit in column j
	// tables[q+15] has the sums of all subsets of the slots of quad q. The first 15 stay 0: they
	// stand for quads before quad 0, where substitute looks, too.
	tables [2*maxBlocks + windowSlots/4 - 1][16]uint64
}

// A row is an equation, or a sum of some.
type row struct{ coeffs, fp uint64 }

// load takes the equations of keys for the seeds of one multiplier, and lists them by start.
func (s *solver) load(hashes []uint64, multiplier uint64, slots int) {
	s.slots, s.quads = slots, (slots+3)/4
	s.last = max(0, slots-windowSlots+7) / 8
	for i := range s.first[:s.last+1] {
		s.first[i] = -1
	}
	missing := 8*s.last + windowSlots - 4*s.quads // slots at the end of the last window
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

// eliminate brings the rows into echelon form: the pivot of a row is its last slot. It goes from
// the last quad to the first. Before it comes to a quad, every active row has no coefficients
// behind that quad. It returns the first turn with which the rows are consistent, if any.
func (s *solver) eliminate() (turn uint64, ok bool) {
	s.count = 0
	start := s.last
	for q := s.quads - 1; q > 0; q-- {
		for ; start >= 0 && q <= 2*start+15; start-- { // their windows reach to this quad
			for i := s.first[start]; i >= 0; i = s.next[i] {
				s.active[s.count] = s.rows[i]
				s.count++
			}
		}
		s.pivot(q)
		for i := range s.active[:s.count] {
			r := &s.active[i]
			sum := &s.sums[r.coeffs>>60]
			r.coeffs = (r.coeffs ^ sum.coeffs) << 4
			r.fp ^= sum.fp
		}
	}
	return s.turn()
}

// pivot takes up to four rows, whose coefficients in the quad are independent, out of the active
// ones. It sets the quad's pivots, and sums such that adding sums[c] to an active row with the
// coefficients c in the quad leaves 0 there.
func (s *solver) pivot(q int) {
	var span [16]uint64 // coefficients of the sums so far, n of them
	n := 1
	known := uint64(1) // bit c: c is in span
	s.sums[0] = row{}
	for i := 0; i < s.count && n < 16; {
		r := s.active[i]
		c := r.coeffs >> 60
		if known>>c&1 != 0 {
			i++
			continue
		}
		s.count--
		s.active[i] = s.active[s.count]
		more := span[n : 2*n]
		for j, old := range span[:n] {
			sum := &s.sums[old&15]
			more[j] = old ^ c
			known |= 1 << (old ^ c)
			s.sums[(old^c)&15] = row{sum.coeffs ^ r.coeffs, sum.fp ^ r.fp}
		}
		n *= 2
	}
	p := &s.pivots[q]
	if n == 16 {
		p[0], p[1], p[2], p[3] = s.sums[1], s.sums[2], s.sums[4], s.sums[8]
		return
	}
	// Some slots are no pivots. The row of a pivot is the sum that has no other pivot.
	slots := uint64(0)
	for _, c := range span[1:n] {
		slots |= 1 << (bits.Len64(c) - 1)
	}
	*p = [4]row{}
	for _, c := range span[1:n] {
		if pivots := c & slots; pivots&(pivots-1) == 0 {
			p[bits.Len64(c)-1] = s.sums[c]
		}
	}
}

// turn finishes the elimination. What is left are rows with coefficients in the first quad alone.
// They are sums, and the turning bits have taken part in all additions. So other coefficients in
// this quad, which belong to another turn, need no new elimination.
func (s *solver) turn() (turn uint64, ok bool) {
	left := s.rows[:copy(s.rows[:], s.active[:s.count])]
	for turn := range uint64(turns) {
		for i, r := range left {
			s.active[i] = row{r.coeffs ^ turned(r.fp, turn)<<60, r.fp}
		}
		s.count = len(left)
		s.pivot(0)
		// Each row that pivot left must equal its sum, as those of repeated keys do.
		if !slices.ContainsFunc(s.active[:s.count], func(r row) bool {
			return r != s.sums[r.coeffs>>60]
		}) {
			return turn, true
		}
	}
	return 0, false
}

// substitute computes the values of the slots, from the first to the last: a pivot's is the
// fingerprint of its row plus the values of the row's other slots, which are all before it. Slots
// that are no pivot are 0.
func (s *solver) substitute(turn uint64) {
	front := &s.tables[15]
	for q := range s.quads {
		before := (*[15][16]uint64)(s.tables[q:]) // tables of the 15 quads before
		z := (*[4]uint64)(s.values[q/2][q%2*4:])
		for i, r := range s.pivots[q] {
			c, v := r.coeffs, r.fp
			if 0 < q && q < windowSlots/4 { // eliminate did not add what turned says of these rows
				v ^= front[turned(r.fp, turn)]
			}
			v ^= before[14][c>>56&15] ^ before[13][c>>52&15] ^ before[12][c>>48&15]
			v ^= before[11][c>>44&15] ^ before[10][c>>40&15] ^ before[9][c>>36&15]
			v ^= before[8][c>>32&15] ^ before[7][c>>28&15] ^ before[6][c>>24&15]
			v ^= before[5][c>>20&15] ^ before[4][c>>16&15] ^ before[3][c>>12&15]
			v ^= before[2][c>>8&15] ^ before[1][c>>4&15] ^ before[0][c&15]
			z[i] = v
		}
		ab, cd := z[0]^z[1], z[2]^z[3]
		s.tables[q+15] = [16]uint64{
			0, z[0], z[1], ab, z[2], z[2] ^ z[0], z[2] ^ z[1], z[2] ^ ab,
			z[3], z[3] ^ z[0], z[3] ^ z[1], z[3] ^ ab, cd, cd ^ z[0], cd ^ z[1], cd ^ ab,
		}
	}
}

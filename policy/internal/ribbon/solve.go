package ribbon

import "math/bits"

const (
	maxSlots  = maxShardKeys + 7
	maxBlocks = maxSlots/8 + 1
	maxStarts = maxBlocks - windowBlocks + 1
)

// A solver solves the equations of one shard: load them, eliminate, substitute. It works on four
// slots at a time, a group; rows keep their coefficients such that those of the current group are
// the top four bits.
type solver struct {
	slots  int
	last   int // start
	rows   [maxShardKeys]row
	first  [maxStarts]int16    // row with each start, or -1
	next   [maxShardKeys]int16 // row with the same start, or -1
	active [maxShardKeys]row   // eliminate: whose windows the sweep has reached
	count  int                 // of active
	sums   [16]row             // eliminate: by the coefficients in the group
	pivots [2 * maxBlocks][4]row
	values [maxBlocks][8]uint64 // substitute: bit j is the slot's bit in column j
	// tables[g+15] has the sums of all subsets of the slots of group g. The first 15 are 0, for
	// windows that begin before slot 0 if one begins to count 60 slots before group 0.
	tables [2*maxBlocks + windowSlots/4 - 1][16]uint64
}

// A row is an equation, or a sum of some. The meaning of coeffs depends on the sweep.
type row struct{ coeffs, fp uint64 }

// load takes the equations of keys for the seeds of one multiplier, and lists them by start.
func (s *solver) load(hashes []uint64, multiplier uint64, slots int) {
	s.slots = slots
	s.last = max(0, slots-windowSlots+7) / 8
	for i := range s.first[:s.last+1] {
		s.first[i] = -1
	}
	missing := 8*s.last + windowSlots - 4*s.groups() // at the end of the last window
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

// groups returns the number of groups of 4 slots.
func (s *solver) groups() int { return (s.slots + 3) / 4 }

// eliminate brings the rows into echelon form: the pivot of a row is its last slot. It goes from
// the last group to the first. Before it comes to a group, every active row has no coefficients
// behind that group. It returns the first turn with which the rows are independent, if there is
// one.
func (s *solver) eliminate() (turn uint64, ok bool) {
	s.count = 0
	s.activate(s.last)
	for g := s.groups() - 1; g > 0; g-- {
		if start := (g - 15) / 2; g >= 15 && g%2 == 1 && start < s.last {
			s.activate(start)
		}
		s.pivot(g)
		for i := range s.active[:s.count] {
			r := &s.active[i]
			sum := &s.sums[r.coeffs>>60]
			r.coeffs = (r.coeffs ^ sum.coeffs) << 4
			r.fp ^= sum.fp
		}
	}
	return s.turn()
}

// activate adds the rows of a start to the active ones.
func (s *solver) activate(start int) {
	n := s.count
	for i := s.first[start]; i >= 0; i = s.next[i] {
		s.active[n] = s.rows[i]
		n++
	}
	s.count = n
}

// pivot takes up to four rows, whose coefficients in the group are independent, out of the active
// ones. It sets the group's pivots, and sums such that adding sums[c] to an active row with the
// coefficients c in the group leaves 0 there.
func (s *solver) pivot(g int) {
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
	p := &s.pivots[g]
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

// turn finishes the elimination. What is left are rows with coefficients in the first group alone.
// They are sums, and the turning bits have taken part in all additions. So other coefficients in
// this group, which belong to another turn, need no new elimination.
func (s *solver) turn() (turn uint64, ok bool) {
	left := s.rows[:copy(s.rows[:], s.active[:s.count])]
	for turn := range uint64(turns) {
		for i, r := range left {
			s.active[i] = row{r.coeffs ^ turned(r.fp, turn)<<60, r.fp}
		}
		s.count = len(left)
		if s.pivot(0); s.fulfilled() {
			return turn, true
		}
	}
	return 0, false
}

// fulfilled reports whether the active rows, which pivot has left, add nothing to the pivots: there
// are none, unless keys have been added twice.
func (s *solver) fulfilled() bool {
	for _, r := range s.active[:s.count] {
		if r != s.sums[r.coeffs>>60] {
			return false
		}
	}
	return true
}

// substitute computes the values of the slots, from the first to the last: a pivot's is the
// fingerprint of its row plus the values of the row's other slots, which are all before it. Slots
// that are no pivot are 0.
func (s *solver) substitute(turn uint64) {
	front := &s.tables[15]
	for g := range s.groups() {
		before := (*[15][16]uint64)(s.tables[g:]) // tables of the 15 groups before
		z := (*[4]uint64)(s.values[g/2][g%2*4:])
		for i, r := range s.pivots[g] {
			c, v := r.coeffs, r.fp
			if 0 < g && g < windowSlots/4 { // eliminate did not add what turned says
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
		s.tables[g+15] = [16]uint64{
			0, z[0], z[1], ab, z[2], z[2] ^ z[0], z[2] ^ z[1], z[2] ^ ab,
			z[3], z[3] ^ z[0], z[3] ^ z[1], z[3] ^ ab, cd, cd ^ z[0], cd ^ z[1], cd ^ ab,
		}
	}
}

package policy

import (
	"math/bits"
	"slices"
)

// A fusePuzzle finds the contents of a filter's cells. The package comment has the rules. It keeps its memory for the next one.
//
// The algorithm is that of github.com/FastFilter/xorfilter, and so are the bytes, as far as that makes such filters: the tests
// compare. It is written anew for its speed, since the library has branches that no processor can predict where there is arithmetic
// here, and because the library cannot tell how many hashes are distinct before it chooses the size.
type fusePuzzle struct {
	keys  []uint64 // of a cell: the keys that are left and have it, by exclusive or. So the last one is there as it is
	count []uint8  // of a cell: 4 times their number, plus the exclusive or of which of their cells it is, from 0 to 2
	stack []uint32 // cells that had one key left
	which []uint8  // of a key, in the order of the list: which of its cells is its own
	cells []uint16
}

// solve returns the contents of the cells for distinct mixed hashes, which it leaves in another order. It is not ok if they do not
// suit the geometry.
func (p *fusePuzzle) solve(mixed []uint64, g fuseGeometry) (cells []uint16, ok bool) {
	if !p.place(mixed, g) || !p.peel(mixed, g) {
		return nil, false
	}
	return p.fill(mixed, g), true
}

// place puts the keys into their cells. It returns false if 64 are in one, which is more than it can count.
func (p *fusePuzzle) place(mixed []uint64, g fuseGeometry) bool {
	places := g.places()
	keys, count := resize(&p.keys, g.cells()), resize(&p.count, g.cells())
	clear(keys)
	clear(count)
	high := uint(0)
	for _, x := range mixed {
		c0, c1, c2 := places.of(x)
		n0, n1, n2 := uint(count[c0])+4, uint(count[c1]^1)+4, uint(count[c2]^2)+4
		count[c0], count[c1], count[c2] = uint8(n0), uint8(n1), uint8(n2)
		high |= n0 | n1 | n2
		keys[c0] ^= x
		keys[c1] ^= x
		keys[c2] ^= x
	}
	return high <= 0xff
}

// peel gives each key a cell that no key after it in the list has, and makes mixed that list. It returns false if it cannot.
func (p *fusePuzzle) peel(mixed []uint64, g fuseGeometry) bool {
	places := g.places()
	keys, count := p.keys, p.count
	stack := resize(&p.stack, g.cells()+1) // what is not pushed is written behind the last one, too
	whichOf := resize(&p.which, uint64(len(mixed)))
	top := 0
	for c, left := range count {
		stack[top] = uint32(c)
		top += isZero(left>>2 ^ 1)
	}
	n := 0
	for top > 0 {
		top--
		own := uint64(stack[top])
		if count[own]>>2 != 1 {
			continue
		}
		x, which := keys[own], count[own]&3
		mixed[n], whichOf[n] = x, which // the cells have all that is overwritten
		n++

		c0, c1, c2 := places.of(x)
		next, whichNext := choose(which, c1, c2, c0), uint8(choose(which, 1, 2, 0))
		third := own ^ next ^ c0 ^ c1 ^ c2
		whichThird := which ^ whichNext ^ (0 ^ 1 ^ 2)

		left := count[next]
		stack[top] = uint32(next)
		top += isZero(left>>2 ^ 2)
		count[next] = (left - 4) ^ whichNext
		keys[next] ^= x

		left = count[third]
		stack[top] = uint32(third)
		top += isZero(left>>2 ^ 2)
		count[third] = (left - 4) ^ whichThird
		keys[third] ^= x
	}
	return n == len(mixed)
}

// fill makes the exclusive or of each key's cells its fingerprint, from the last key of the list to the first.
func (p *fusePuzzle) fill(mixed []uint64, g fuseGeometry) []uint16 {
	places := g.places()
	cells := resize(&p.cells, g.cells())
	clear(cells)
	for i, which := range slices.Backward(p.which) {
		x := mixed[i]
		c0, c1, c2 := places.of(x)
		own := c0 // by branches: in this order they can be predicted, and are faster than choose
		if which == 1 {
			own = c1
		}
		if which == 2 {
			own = c2
		}
		// Its own cell is 0 as yet.
		cells[own] = uint16(x^x>>32) ^ cells[c0] ^ cells[c1] ^ cells[c2]
	}
	return cells
}

// resize returns a slice of n elements in the memory of another, if there is room. What is in them does not matter.
func resize[T any](s *[]T, n uint64) []T {
	if uint64(cap(*s)) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}

// choose returns a, b or c for 0, 1 or 2, without a branch, which nobody could predict.
func choose(which uint8, a, b, c uint64) uint64 {
	return a ^ (a^b)&-uint64(which&1) ^ (a^c)&-uint64(which>>1)
}

// isZero returns 1 if x is 0, and otherwise 0, likewise.
func isZero(x uint8) int { return int((uint(x) - 1) >> (bits.UintSize - 1)) }

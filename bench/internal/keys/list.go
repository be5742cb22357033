package keys

import "fmt"

// A List is a user's own keys, sorted, none twice.
type List [][]byte

// heldOut is the density of a list. So absent keys are as real as present ones, and lie between
// them. The part that is present is about that of db_bench's fillrandom.
var heldOut = atRandom("two thirds", 2.0/3, "a random third of the keys stays out of the filters, "+
	"and is looked up as absent")

// Shape returns the keys as a shape. Its indexes go around: behind the last key comes the first one
// again. But Indexes-1 is the last key, as in other shapes.
func (l List) Shape() Shape {
	n := uint64(len(l))
	return Shape{Name: "own", Density: heldOut, Append: func(dst []byte, _, index uint64) []byte {
		if index == Indexes-1 {
			index = n - 1
		}
		return append(dst, l[index%n]...)
	}}
}

// spare is how many keys more than twice n suffice to find n present ones, but for once in 10^8
// times. On average it takes 1.5 n keys, with a standard deviation of the root of 0.75 n.
const spare = 32

// Fits returns an error that says how many keys are needed if the list is too short for a range of
// n present keys with absent ones between them, and others beyond it.
func (l List) Fits(n, others int) error {
	if need := 2*n + spare + others; len(l) < need {
		return fmt.Errorf("too few keys (%d) to store %s of them: pass %d keys or more",
			len(l), FormatN(n), need)
	}
	return nil
}

// Most returns the largest n that fits, or 0.
func (l List) Most(others int) int { return max(0, (len(l)-spare-others)/2) }

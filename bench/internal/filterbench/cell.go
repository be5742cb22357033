package filterbench

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// Work is what is timed.
type Work string

const (
	Lookup Work = "lookup" // keys in one filter
	Many   Work = "many"   // keys in many filters, larger than the caches together
	Build  Work = "build"  // filters
)

// Works lists all kinds of work.
var Works = []Work{Lookup, Many, Build}

// Mix says which keys are looked up.
type Mix string

const (
	Hit  Mix = "hit"  // present keys
	Miss Mix = "miss" // absent keys
)

// Mixes lists all mixes.
var Mixes = []Mix{Hit, Miss}

// A Cell is one comparison.
type Cell struct {
	Work   Work
	N      int // keys per filter
	Length int // of the keys in bytes
	Mix    Mix // "" for Build
}

// A grid is the cells of a work that are measured unless others are asked for.
type grid struct {
	ns, lengths []int
}

var grids = map[Work]grid{
	Lookup: {[]int{10_000, 1_000_000, 10_000_000}, []int{16, 64}},
	Many:   {[]int{10_000}, []int{16}},
	Build:  {[]int{32, 10_000, 1_000_000, 10_000_000}, []int{16}},
}

// Cells returns the cells of the works: of each its own numbers of keys and lengths, unless others
// are given.
func Cells(works []Work, ns, lengths []int, mixes []Mix) (cells []Cell) {
	for _, work := range works {
		g := grids[work]
		if ns != nil {
			g.ns = ns
		}
		if lengths != nil {
			g.lengths = lengths
		}
		mixes := mixes
		if work == Build {
			mixes = []Mix{""}
		}
		for _, n := range g.ns {
			for _, length := range g.lengths {
				for _, mix := range mixes {
					cells = append(cells, Cell{work, n, length, mix})
				}
			}
		}
	}
	return cells
}

func (c Cell) String() string {
	return strings.TrimRight(fmt.Sprintf("%s, %s, %d bytes, %s",
		c.Work, keys.CountN(c.N), c.Length, c.Mix), ", ")
}

// benchmark returns the name that a contestant's turns have in Go's benchmark format.
func (c Cell) benchmark(contestant string) string {
	name := strings.ToUpper(string(c.Work[:1])) + string(c.Work[1:]) + "/filter=" + contestant
	if c.Mix != "" {
		name += "/keys=" + string(c.Mix)
	}
	return fmt.Sprintf("%s/n=%d/len=%d", name, c.N, c.Length)
}

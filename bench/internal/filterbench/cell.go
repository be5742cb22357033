package filterbench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// Work is what is timed.
type Work string

const (
	Lookup Work = "lookup" // keys in one filter
	Many   Work = "many"   // keys in many filters, chosen at random, larger than the caches together
	Batch  Work = "batch"  // many keys at once in one filter; contestants that cannot take one by one
	Build  Work = "build"  // filters
)

// Works lists all kinds of work.
var Works = []Work{Lookup, Many, Batch, Build}

// Mix says which keys are looked up.
type Mix string

const (
	Hit  Mix = "hit"  // present keys
	Miss Mix = "miss" // absent keys
	Half Mix = "half" // as many of both, in random order
)

// Mixes lists all mixes.
var Mixes = []Mix{Hit, Miss, Half}

// A Cell is one comparison.
type Cell struct {
	Work   Work
	N      int // keys per filter
	Length int // of the keys in bytes, or Mixed
	Mix    Mix // "" for Build
}

// Mixed is the Length of keys of 8 to 64 bytes, each length as often as another.
const (
	Mixed    = 0
	maxMixed = 64
)

// A grid is the cells of a work that are measured unless others are asked for.
type grid struct {
	ns, lengths []int
	mixes       []Mix
}

var grids = map[Work]grid{
	Lookup: {[]int{10_000, 1_000_000, 10_000_000}, []int{16, 64}, []Mix{Hit, Miss}},
	Many:   {[]int{10_000}, []int{16}, []Mix{Hit, Miss}},
	Batch:  {[]int{10_000}, []int{16}, []Mix{Hit, Miss}},
	Build:  {[]int{32, 10_000, 1_000_000, 10_000_000}, []int{16}, nil},
}

// Cells returns the cells of the works: of each its own numbers of keys, lengths and mixes, unless
// others are given.
func Cells(works []Work, ns, lengths []int, mixes []Mix) (cells []Cell) {
	for _, work := range works {
		g := grids[work]
		if ns != nil {
			g.ns = ns
		}
		if lengths != nil {
			g.lengths = lengths
		}
		if mixes != nil {
			g.mixes = mixes
		}
		if work == Build {
			g.mixes = []Mix{""}
		}
		for _, n := range g.ns {
			for _, length := range g.lengths {
				for _, mix := range g.mixes {
					cells = append(cells, Cell{work, n, length, mix})
				}
			}
		}
	}
	return cells
}

func (c Cell) String() string {
	return strings.TrimRight(fmt.Sprintf("%s, %s keys, %s bytes, %s",
		c.Work, keys.FormatN(c.N), FormatLength(c.Length), c.Mix), ", ")
}

// FormatLength writes a length of keys.
func FormatLength(length int) string {
	if length == Mixed {
		return "mixed"
	}
	return strconv.Itoa(length)
}

// ParseLength reads what FormatLength writes.
func ParseLength(s string) (int, error) {
	if s == "mixed" {
		return Mixed, nil
	}
	length, err := strconv.Atoi(s)
	if err != nil || length < keys.MinLength || length > 1024 {
		return 0, fmt.Errorf("%q: pass 8 to 1024 bytes, or mixed", s)
	}
	return length, nil
}

package filterbench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Work is what is timed.
type Work string

const (
	Lookup Work = "lookup" // of keys in one filter
	Many   Work = "many"   // of keys in many filters, chosen at random, that are larger than the caches together
	Batch  Work = "batch"  // of many keys at once in one filter, by contestants that can; others take one after the other
	Build  Work = "build"  // of filters
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
const Mixed = 0

// A grid is the cells of a work that are measured unless others are asked for.
type grid struct {
	ns, lengths []int
	mixes       []Mix
}

var grids = map[Work]grid{
	Lookup: {[]int{32, 10_000, 1_000_000, 10_000_000}, []int{8, 16, 24, 64, Mixed}, Mixes},
	Many:   {[]int{10_000}, []int{16}, Mixes},
	Batch:  {[]int{10_000, 10_000_000}, []int{16, Mixed}, Mixes},
	Build:  {[]int{32, 10_000, 1_000_000, 10_000_000}, []int{16}, nil},
}

// Cells returns the cells of the works: of each its usual numbers of keys, lengths and mixes, unless others are given.
func Cells(works []Work, ns, lengths []int, mixes []Mix) (cells []Cell) {
	for _, work := range works {
		g := grids[work]
		if ns != nil {
			g.ns = ns
		}
		if lengths != nil {
			g.lengths = lengths
		}
		if work == Build {
			g.mixes = []Mix{""}
		} else if mixes != nil {
			g.mixes = mixes
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
	return strings.TrimRight(fmt.Sprintf("%s, %s keys, %s bytes, %s", c.Work, FormatN(c.N), FormatLength(c.Length), c.Mix), ", ")
}

// FormatN writes a number of keys, with k for thousands and M for millions.
func FormatN(n int) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.Itoa(n)
}

// ParseN reads what FormatN writes. Filters of 1 to 20 million keys can be measured.
func ParseN(s string) (int, error) {
	digits, unit := s, 1
	if d, ok := strings.CutSuffix(s, "M"); ok {
		digits, unit = d, 1_000_000
	} else if d, ok := strings.CutSuffix(s, "k"); ok {
		digits, unit = d, 1000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 20_000_000/unit {
		return 0, fmt.Errorf("%q: pass a number of keys from 1 to 20M, such as 32, 10k or 1M", s)
	}
	return n * unit, nil
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
	if err != nil || length < minLength || length > 1024 {
		return 0, errors.New(strconv.Quote(s) + ": pass 8 to 1024 bytes, or mixed")
	}
	return length, nil
}

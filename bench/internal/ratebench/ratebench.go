// Package ratebench measures the false-positive rates of filters by themselves, without any engine.
//
// A cell is a shape of keys, a density, a number of keys per filter, and bits per key. In each cell
// many filters are built, of different keys, by every kind from the same ones, and asked for the
// same absent keys. How many are asked depends on the cell and the settings alone, never on the
// answers or on the kinds that are measured.
package ratebench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/progress"
)

// ErrLostKey is the error of a filter that lost a key.
var ErrLostKey = errors.New("a key is lost")

// A Cell is one thing to measure.
type Cell struct {
	Shape   keys.Shape
	Density keys.Density
	N       int // keys per filter
	Bits    float64
}

func (c Cell) String() string { return fmt.Sprintf("%s, %v bits per key", c.keysOf(), c.Bits) }

// keysOf says which keys a filter has, and how many.
func (c Cell) keysOf() string { return fmt.Sprintf("%s, %s keys", c.keys(), keys.FormatN(c.N)) }

// keys says which keys they are.
func (c Cell) keys() string {
	if c.Density.Name == keys.Anywhere.Name {
		return c.Shape.Name
	}
	return c.Shape.Name + " " + c.Density.Name
}

// A Config says what to measure.
type Config struct {
	Kinds     []kind.Kind
	Shapes    []keys.Shape
	Densities []keys.Density // of shapes with order
	Ns        []int
	Bits      []float64
	// A cell asks so many absent keys that a rate near the textbook's has a standard error of Error
	// times itself, but at most Queries. See Cell.reference for the exception.
	Error    float64
	Queries  int
	Seed     int64 // the same seed gives the same rates, whatever else is measured
	Progress progress.Reporter
}

// A Result is what was measured in a cell.
type Result struct {
	Cell
	Rates []Rate // by kind, in the order of Config
	Sizes []int  // of each kind's filters, in bytes
	Whole []bool // each kind's filters are not divided into lines
}

// Cells returns the cells to measure, by number of keys and shape, and how many are left out
// because the shape does not have so many keys.
func (c *Config) Cells() (cells []Cell, leftOut int) {
	for _, n := range c.Ns {
		for _, shape := range c.Shapes {
			densities := c.Densities
			if shape.Unordered {
				densities = []keys.Density{keys.Anywhere}
			}
			for _, density := range densities {
				for _, bits := range c.Bits {
					if density.Reach(n, c.perFilter(n)) > shape.Indexes {
						leftOut++
						continue
					}
					cells = append(cells, Cell{shape, density, n, bits})
				}
			}
		}
	}
	return cells, leftOut
}

// reference reports whether exact's rate in the cell is what other cells are compared with. It is
// asked referenceQueries times as many keys, for an error of the root of that.
func (c Cell) reference() bool {
	return c.Shape.Name == "random" && c.N >= fewKeys && c.N <= manyKeys
}

const referenceQueries = 9

// queries returns how many absent keys a cell asks.
func (c *Config) queries(cell Cell) int {
	p := math.Pow(0.6185, cell.Bits) // a Bloom filter's best rate
	wanted := min(float64(c.Queries), (1-p)/p/c.Error/c.Error)
	if cell.reference() {
		wanted *= referenceQueries
	}
	// Of long keys only as many are asked as have the bytes of that many keys of 64.
	const long = 64
	length := len(cell.Shape.Append(nil, 0, min(uint64(cell.N), cell.Shape.Indexes-1)))
	return int(wanted * min(1, float64(long)/float64(length)))
}

// perFilter returns how many absent keys a filter of n keys is asked at most: so many that they
// take longer than building it, if Queries allows.
func (c *Config) perFilter(n int) int {
	return max(1, min(max(512, 4*n), c.Queries/leastFilters(n)))
}

// leastFilters returns how many filters of n keys are built at least. Large ones differ little from
// each other, and take long.
func leastFilters(n int) int { return max(2, min(10, 4_000_000/n)) }

// Run measures all cells, on as many processors as there are, and returns those that it finished.
// The error is context.Cause if ctx ends, and wraps ErrLostKey at the first lost key.
func (c *Config) Run(ctx context.Context) ([]Result, error) {
	cells, _ := c.Cells()
	groups := together(cells)
	steps := 0
	for i := range groups {
		if beginsStep(groups, i) {
			steps++
		}
	}
	c.Progress.Start(steps)
	defer c.Progress.Done()

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	results := make([][]Result, len(groups))
	todo := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range todo {
				measured, err := c.measure(ctx, groups[i])
				if err != nil {
					fail(err)
					continue
				}
				results[i] = measured
			}
		}()
	}
	for i, group := range groups {
		if ctx.Err() != nil {
			break
		}
		if beginsStep(groups, i) {
			c.Progress.Next(
				fmt.Sprintf(
					"%s keys per filter, %s",
					keys.FormatN(group[0].N),
					group[0].Shape.Name,
				),
			)
		}
		todo <- i
	}
	close(todo)
	workers.Wait()
	return slices.Concat(results...), context.Cause(ctx)
}

// together returns groups of cells that differ in their bits per key alone. They are measured at
// once, with the same keys, since making keys takes longer than asking for them. If their filters
// are large, groups are small, to save memory.
func together(cells []Cell) (groups [][]Cell) {
	const mostKeys = 5_000_000
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && (n+1)*cells[0].N <= mostKeys &&
			cells[n].keysOf() == cells[0].keysOf() {
			n++
		}
		groups = append(groups, cells[:n])
		cells = cells[n:]
	}
	return groups
}

// beginsStep reports whether a step of the progress begins with group i: the cells of a shape and
// number of keys are one.
func beginsStep(groups [][]Cell, i int) bool {
	return i == 0 || groups[i][0].N != groups[i-1][0].N ||
		groups[i][0].Shape.Name != groups[i-1][0].Shape.Name
}

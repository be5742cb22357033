// Package ratebench measures the false-positive rates of filters by themselves, without any engine.
//
// A cell is a shape of keys, a density, a number of keys per filter, and bits per key. In each cell many filters are made, of
// different keys, by every encoding from the same ones, and asked for absent keys. A rate comes with its standard error, and
// an encoding that promises a bound is held to it.
package ratebench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// A Cell is one thing to measure.
type Cell struct {
	Shape   Shape
	Density Density
	N       int // keys per filter
	Bits    float64
}

func (c Cell) String() string { return fmt.Sprintf("%s, %v bits per key", c.keysOf(), c.Bits) }

// keysOf says which keys a filter has, and how many.
func (c Cell) keysOf() string { return fmt.Sprintf("%s, %s keys", c.keys(), filterbench.FormatN(c.N)) }

// keys says which keys they are.
func (c Cell) keys() string {
	if c.Density.Name == anywhere.Name {
		return c.Shape.Name
	}
	return c.Shape.Name + " " + c.Density.Name
}

// A Config says what to measure.
type Config struct {
	Encodings []Encoding
	Shapes    []Shape
	Densities []Density // those of shapes without order do not matter
	Ns        []int
	Bits      []float64

	// A cell ends when every rate's standard error is at most Error times the rate, or when Queries absent keys have been
	// asked. Random keys, with whose rate others are compared, have a third of that error.
	Error   float64
	Queries int

	Seed     int64 // The same seed gives the same rates, whatever else is measured.
	Progress measure.Progress
}

// A Result holds what was measured in a cell.
type Result struct {
	Cell
	Rates []Rate      // by encoding, in the order of Config
	Sizes []int       // of each encoding's filters, in bytes
	Kinds []kind.Kind // of each encoding's filters
}

// Cells returns the cells to measure, by number of keys and shape, and how many are left out because the shape has not so
// many keys.
func (c *Config) Cells() (cells []Cell, leftOut int) {
	for _, n := range c.Ns {
		for _, shape := range c.Shapes {
			densities := c.Densities
			if shape.unordered {
				densities = []Density{anywhere}
			}
			for _, density := range densities {
				for _, bits := range c.Bits {
					cell := Cell{shape, density, n, bits}
					if density.reach(n, c.queriesPerFilter(n)) > shape.indexes {
						leftOut++
						continue
					}
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells, leftOut
}

// Run measures all cells, on as many processors as there are. It returns context.Cause if ctx ends, and an error that wraps
// measure.ErrLostKey at the first lost key.
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
				var err error
				if results[i], err = c.measure(ctx, groups[i]); err != nil {
					fail(err)
				}
			}
		}()
	}
	for i, group := range groups {
		if ctx.Err() != nil {
			break
		}
		if beginsStep(groups, i) {
			c.Progress.Next(fmt.Sprintf("%s keys per filter, %s", filterbench.FormatN(group[0].N), group[0].Shape.Name))
		}
		todo <- i
	}
	close(todo)
	workers.Wait()
	return slices.Concat(results...), context.Cause(ctx)
}

// together returns groups of cells that differ in their bits per key alone. They are measured at once, with the same keys, since
// to make keys takes longer than to ask for them. If their filters are large, groups are small, to save memory.
func together(cells []Cell) (groups [][]Cell) {
	const mostKeys = 5_000_000
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && (n+1)*cells[0].N <= mostKeys && cells[n].keysOf() == cells[0].keysOf() {
			n++
		}
		groups = append(groups, cells[:n])
		cells = cells[n:]
	}
	return groups
}

// beginsStep reports whether a step of the progress begins with group i: the cells of a shape and number of keys are one.
func beginsStep(groups [][]Cell, i int) bool {
	return i == 0 || groups[i][0].N != groups[i-1][0].N || groups[i][0].Shape.Name != groups[i-1][0].Shape.Name
}

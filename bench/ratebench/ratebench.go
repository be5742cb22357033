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
	"sync"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// A Cell is one thing to measure.
type Cell struct {
	Shape   Shape
	Density Density
	N       int // keys per filter
	Bits    float64
}

func (c Cell) String() string {
	return fmt.Sprintf("%s, %s keys, %v bits per key", c.keys(), filterbench.FormatN(c.N), c.Bits)
}

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
	Rates []Rate // by encoding, in the order of Config
	Sizes []int  // of each encoding's filters, in bytes
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

// Run measures all cells, as many at once as there are processors. It returns context.Cause if ctx ends, and an error that
// wraps measure.ErrLostKey at the first lost key.
func (c *Config) Run(ctx context.Context) ([]Result, error) {
	cells, _ := c.Cells()
	steps := 0
	for i := range cells {
		if beginsStep(cells, i) {
			steps++
		}
	}
	c.Progress.Start(steps)
	defer c.Progress.Done()

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	results := make([]Result, len(cells))
	todo := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range todo {
				var err error
				if results[i], err = c.measure(ctx, cells[i]); err != nil {
					fail(fmt.Errorf("%v: %w", cells[i], err))
				}
			}
		}()
	}
	for i, cell := range cells {
		if ctx.Err() != nil {
			break
		}
		if beginsStep(cells, i) {
			c.Progress.Next(fmt.Sprintf("%s keys per filter, %s", filterbench.FormatN(cell.N), cell.Shape.Name))
		}
		todo <- i
	}
	close(todo)
	workers.Wait()
	return results, context.Cause(ctx)
}

// beginsStep reports whether a step of the progress begins with cell i: the cells of a shape and number of keys are one.
func beginsStep(cells []Cell, i int) bool {
	return i == 0 || cells[i].N != cells[i-1].N || cells[i].Shape.Name != cells[i-1].Shape.Name
}

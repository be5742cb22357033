// Package ratebench measures the false-positive rates of filters by themselves, without any engine.
//
// A cell is a shape of keys, a density, and a number of keys per filter. In each cell many filters
// are built, of different keys, by every kind from the same ones, and asked for the same absent
// keys. Which keys these are, and how many, depends on the cell, the seed and Queries alone, never
// on the answers or on what else is measured.
package ratebench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// ErrLostKey is the error of a filter that lost a key.
var ErrLostKey = errors.New("a key is lost")

// A Cell says which keys filters are built of.
type Cell struct {
	Shape   keys.Shape
	Density keys.Density
	N       int // keys per filter
}

func (c Cell) String() string { return fmt.Sprintf("%s, %s", c.keys(), keys.CountN(c.N)) }

// keys names the keys without their number.
func (c Cell) keys() string {
	if c.Shape.Density.Name != "" {
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
	Queries   int   // absent keys that a cell asks, a few more if filters take as many each
	Seed      int64 // the same seed gives the same rates
	Progress  report.Progress
}

// A Result is what was measured of a kind in a cell.
type Result struct {
	Cell
	Kind kind.Kind
	Bits float64
	Rate Rate
	Size float64 // of a filter, in bytes, a mean

	// Of the last filter:
	BitBytes int // without the trailer
	K        int
	Encoding policy.Encoding
}

// Cells returns the cells to measure, by number of keys and shape.
func (c *Config) Cells() (cells []Cell) {
	for _, n := range c.Ns {
		for _, shape := range c.Shapes {
			for _, density := range shape.Densities(c.Densities) {
				cells = append(cells, Cell{shape, density, n})
			}
		}
	}
	return cells
}

// Run measures all cells, on as many processors as there are, and returns the results of those that
// it finished. The error is context.Cause if ctx ends, and wraps ErrLostKey at the first lost key.
func (c *Config) Run(ctx context.Context) ([]Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	cells := c.Cells()
	results := make([][]Result, len(cells))
	todo := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range todo {
				measured, err := c.measure(ctx, cells[i])
				if err != nil {
					fail(err)
				}
				results[i] = measured
			}
		}()
	}
	for i, cell := range cells {
		if ctx.Err() != nil {
			break
		}
		if i == 0 || cell.N != cells[i-1].N || cell.Shape.Name != cells[i-1].Shape.Name {
			c.Progress(i, len(cells), fmt.Sprintf("%s, %s per filter", cell.Shape.Name,
				keys.CountN(cell.N)))
		}
		todo <- i
	}
	close(todo)
	workers.Wait()
	return slices.Concat(results...), context.Cause(ctx)
}

// Package ratebench measures the false-positive rates of filters by themselves, without any engine.
//
// A cell is a shape of keys, a density, and a number of keys per filter. In each cell every kind
// builds many filters, of different keys, and looks up absent keys. All kinds have the same keys.
// Which keys these are, and how many, depends on the cell, the seed and Queries alone, never on the
// answers or on what else is measured.
package ratebench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Config says what to measure.
type Config struct {
	Kinds    []filterbench.Kind
	Sources  []keys.Source // by shape
	Ns       []int         // keys per filter
	Queries  int           // absent keys of a cell, a few more if filters take as many each
	Seed     uint64        // the same seed gives the same rates
	Progress report.Progress
}

// A Cell says which keys filters are built of.
type Cell struct {
	keys.Source
	N int // keys per filter
}

func (c Cell) String() string {
	return fmt.Sprintf("%s %s, %s", c.Shape.Name, c.Density.Name, keys.CountN(c.N))
}

// Cells returns the cells to measure, by number of keys and source.
func (c *Config) Cells() (cells []Cell) {
	for _, n := range c.Ns {
		for _, source := range c.Sources {
			cells = append(cells, Cell{source, n})
		}
	}
	return cells
}

// Run measures all cells, on as many processors as there are, and returns the records of those that
// it finished. The error is context.Cause if ctx ends, and wraps keys.ErrLost if a key is lost.
func (c *Config) Run(ctx context.Context) ([]Record, error) {
	if c.Queries < 1 || c.Queries > 1_000_000_000 {
		return nil, fmt.Errorf("--queries %d: pass 1 to 1000000000", c.Queries)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	cells := c.Cells()
	records := make([][]Record, len(cells))
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
				records[i] = measured
			}
		}()
	}
	for i, cell := range cells {
		if ctx.Err() != nil {
			break
		}
		if previous := cells[max(0, i-1)]; i == 0 || cell.N != previous.N ||
			cell.Shape.Name != previous.Shape.Name {
			c.Progress(i, len(cells), fmt.Sprintf("%s, %s per filter", cell.Shape.Name,
				keys.CountN(cell.N)))
		}
		todo <- i
	}
	close(todo)
	workers.Wait()
	return slices.Concat(records...), context.Cause(ctx)
}

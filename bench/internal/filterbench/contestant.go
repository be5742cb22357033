package filterbench

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/clock"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A contestant is a kind of filter that takes turns.
type contestant struct {
	name   string
	filter *Filter
}

// A turn does the work of a cell once, and returns nanoseconds per key.
type turn func() (float64, error)

// start gets ready for the turns of a cell.
func (c *contestant) start(in *inputs) turn {
	if in.Work == Build {
		return func() (float64, error) { return c.build(in), nil }
	}
	filter := bytes.Clone(c.filter.Build(in.present[:in.N]))
	return func() (float64, error) {
		c.filter.Count(filter, in.queries) // untimed
		start := clock.Now()
		matches := c.filter.Count(filter, in.queries)
		ns := perKey(start, in.queries)
		if in.Work == Hit && matches != numQueries {
			return ns, fmt.Errorf("%w: %d of %d", keys.ErrLost, numQueries-matches, numQueries)
		}
		return ns, nil
	}
}

func (c *contestant) build(in *inputs) float64 {
	if in.N < large {
		c.buildAll(in) // untimed
	}
	start := clock.Now()
	c.buildAll(in)
	return perKey(start, in.present)
}

func (c *contestant) buildAll(in *inputs) {
	for part := range slices.Chunk(in.present, in.N) {
		c.filter.Build(part)
	}
}

// perKey returns the nanoseconds since start for each key.
func perKey(start time.Duration, keys [][]byte) float64 {
	return float64(clock.Now()-start) / float64(len(keys))
}

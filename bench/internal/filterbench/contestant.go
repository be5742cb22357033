package filterbench

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// A contestant is a kind of filter that takes turns.
type contestant struct {
	name, encoding string
	filter         *kind.Filter
}

// A turn does the work of a cell once. It returns nanoseconds per key, and a check: the number of
// lookups that were answered with "may contain", or a hash of the filters built. The check is the
// same for all contestants of an encoding.
type turn func() (ns float64, check uint32)

// start gets ready for the turns of a cell.
func (c *contestant) start(in *inputs) turn {
	if in.Work == Build {
		return c.startBuild(in)
	}
	filter := in.filter(c)
	return func() (float64, uint32) {
		c.filter.Count(filter, in.queries) // untimed
		start := now()
		matches := c.filter.Count(filter, in.queries)
		return perKey(start, in.queries), uint32(matches)
	}
}

func (c *contestant) startBuild(in *inputs) turn {
	hash := fnv.New32a()
	c.buildAll(in, func(filter []byte) { hash.Write(filter) })
	return func() (float64, uint32) {
		if in.N < large {
			c.buildAll(in, func([]byte) {}) // untimed
		}
		start := now()
		c.buildAll(in, func([]byte) {})
		return perKey(start, in.present), hash.Sum32()
	}
}

func (c *contestant) buildAll(in *inputs, use func(filter []byte)) {
	for part := range slices.Chunk(in.present, in.N) {
		use(c.filter.Build(part))
	}
}

// perKey returns the nanoseconds since start for each key.
func perKey(start time.Duration, keys [][]byte) float64 {
	return float64(now()-start) / float64(len(keys))
}

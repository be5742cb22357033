// Package engines compares filters in storage engines. It fills a new database with each filter,
// counts what lookups read in it, which does not depend on the machine, and times them. It does so
// in rounds, in which each database has a turn, in an order that rotates: other load on the machine
// affects all filters. Times are CPU times, to which each read adds what a disk takes. What is
// shown is the median of the rounds' ratios to no filter.
package engines

import (
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

const valueSize = 100 // bytes of random data

const (
	// lookups is how many keys a round looks up, if there are as many. A quarter fills the caches.
	lookups = 1 << 14

	// MaxAbsent is how many absent keys are looked up at most, to count what is read until there
	// are enoughBlocks: with a thousand, a count is good to 3 %.
	MaxAbsent    = 1 << 18
	enoughBlocks = 1000

	rounds = 5
)

// Config says what to run.
type Config struct {
	Engines  []Engine
	Filters  []string
	Keys     *keys.Set
	Disk     time.Duration // what a read of table data takes
	Cached   bool          // the block cache has room for all of the data
	Progress func(step, total int, what string)
}

// dataBytes returns the bytes of all present keys and their values.
func (c *Config) dataBytes() int {
	return len(c.Keys.Present) * (len(c.Keys.Present[0]) + valueSize)
}

// cache returns the bytes of the block cache. If not for all of the data, it has room for all
// filters, all index blocks and a small part of the data. Without room for filters each check of
// one would be a read, and no filter would save any. Filters in L6 get room of their own, as large
// as the others' is at most: otherwise less of the data would fit beside them.
func (c *Config) cache(filter string) int {
	all := len(c.Keys.Present) * filters.Bits / 8
	indexes := c.dataBytes() / 128 // some 32 bytes for each block of 4 KiB
	size := max(2*(all+indexes), c.dataBytes()/16, 256<<10)
	if c.Cached {
		size = 2*c.dataBytes() + 8<<20
	}
	if strings.HasSuffix(filter, L6) {
		size += all
	}
	return size
}

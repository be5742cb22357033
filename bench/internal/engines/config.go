// Package engines measures what filters do in storage engines.
//
// A turn fills a new database with one filter, and looks keys up in it. In a filter's first turn
// its reads are counted, which do not depend on the machine. A round has one turn of each filter,
// in an order that rotates, so that other load on the machine affects all filters.
package engines

import (
	"fmt"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

const (
	valueSize = 100  // bytes of random data
	timed     = 4096 // lookups, or as many as there are keys

	// Absent is how many absent keys Config.Keys should have. A quarter fills the caches.
	Absent = 4 * timed
)

// Config says what to run.
type Config struct {
	Engines  []Engine
	Filters  []string
	Keys     *keys.Set
	Disk     time.Duration // how long reads of table data wait when lookups are timed
	Cached   bool          // the block cache has room for all of the data
	Rounds   int
	Bits     int
	Progress report.Progress
}

// Validate checks what flags of the command line set. The error names the flag.
func (c *Config) Validate() error {
	if c.Bits < 1 || c.Bits > 100 { // with more, engines' own filters differ from LevelDB's
		return fmt.Errorf("--bits %d: pass 1 to 100", c.Bits)
	}
	for i, filter := range c.Filters {
		if slices.Contains(c.Filters[:i], filter) {
			return fmt.Errorf("--filters: %q is named twice", filter)
		}
		if _, err := (database{filter: filter, bits: c.Bits}).policy(); err != nil {
			return fmt.Errorf("--filters: %w", err)
		}
	}
	if c.Disk < 0 {
		return fmt.Errorf("--disk %v: pass 0s or more", c.Disk)
	}
	if c.Rounds < 1 {
		return fmt.Errorf("--rounds %d: pass 1 or more", c.Rounds)
	}
	if len(c.turns()) == 0 {
		return fmt.Errorf("--filters %s: goleveldb has no L6: pass --engines pebblev2, or another "+
			"filter", RibbonL6)
	}
	return nil
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
	filters := len(c.Keys.Present) * c.Bits / 8
	indexes := c.dataBytes() / 128 // some 32 bytes for each block of 4 KiB
	size := max(2*(filters+indexes), c.dataBytes()/16, 256<<10)
	if c.Cached {
		size = 2*c.dataBytes() + 8<<20
	}
	if filter == RibbonL6 {
		size += filters
	}
	return size
}

// A turn is one filter in a round.
type turn struct {
	engine Engine
	filter string
	round  int // from 1
}

func (t turn) String() string {
	return fmt.Sprintf("%s, %s, round %d", t.engine.Name, t.filter, t.round)
}

// turns lists all turns in order.
func (c *Config) turns() (all []turn) {
	for round := range c.Rounds {
		for _, e := range c.Engines {
			filters := slices.DeleteFunc(slices.Clone(c.Filters), func(filter string) bool {
				return filter == RibbonL6 && !e.L6
			})
			for i := range filters {
				all = append(all, turn{e, filters[(round+i)%len(filters)], round + 1})
			}
		}
	}
	return all
}

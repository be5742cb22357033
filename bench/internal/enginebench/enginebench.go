// Package enginebench measures what filters do in storage engines.
//
// A turn fills a new database with one filter, and looks keys up in it. In a filter's first turn
// its reads are counted, which do not depend on the machine. A round has one turn of each filter.
// The long run (Config.All) has several rounds, in an order that rotates, so that other load on
// the machine affects all filters.
package enginebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

const (
	valueSize = 100  // bytes of random data
	reads     = 4096 // timed lookups of a pass, or as many as there are keys
	allRounds = 3    // of the long run

	// Absent is how many absent keys Config.Keys should have. A quarter fills the caches.
	Absent = 4 * reads
)

// Config says what to run.
type Config struct {
	Engines  []engine.Engine
	Filters  []string
	Keys     *keys.Set
	Disk     time.Duration // how long reads of table data wait in a timed pass
	Cached   bool          // the block cache has room for all of the data
	All      bool          // the long run
	Bits     int
	Dir      string // an empty directory
	OnFatal  func(error)
	Progress report.Progress
}

// DataBytes returns the bytes of all present keys and their values.
func (c *Config) DataBytes() int {
	return len(c.Keys.Present) * (len(c.Keys.Present[0]) + valueSize)
}

// Cache returns the bytes of the block cache. If not for all of the data, it has room for all
// filters, all index blocks and a small part of the data. Without room for filters each check of
// one would be a read, and no filter would save any. Filters in L6 get room of their own, as large
// as the others' is at most: otherwise less of the data would fit beside them.
func (c *Config) Cache(filter string) int {
	if c.Cached {
		return 2*c.DataBytes() + 8<<20
	}
	filters := len(c.Keys.Present) * c.Bits / 8
	indexes := c.DataBytes() / 128 // some 32 bytes for each block of 4 KiB
	size := max(2*(filters+indexes), c.DataBytes()/16, 256<<10)
	if filter == engine.RibbonL6 {
		size += filters
	}
	return size
}

// A turn is one filter in a round, or in the run that counts by settings.
type turn struct {
	engine   engine.Engine
	filter   string
	round    int // from 1
	settings bool
}

func (t turn) String() string {
	if t.settings {
		return fmt.Sprintf("%s, %s, by settings", t.engine.Name, t.filter)
	}
	return fmt.Sprintf("%s, %s, round %d", t.engine.Name, t.filter, t.round)
}

// turns lists all turns in order.
func (c *Config) turns() (all []turn) {
	rounds := 1
	if c.All {
		rounds = allRounds
	}
	for round := range rounds {
		for _, e := range c.Engines {
			var turns []turn
			for _, filter := range c.Filters {
				if e.Supports(filter) {
					turns = append(turns, turn{engine: e, filter: filter, round: round + 1})
				}
			}
			at := min(round, len(turns))
			all = slices.Concat(all, turns[at:], turns[:at])
			if last := len(turns) - 1; c.All && round == 0 && e.Name == "goleveldb" && last >= 0 &&
				turns[last].filter != engine.None {
				all = append(all, turn{engine: e, filter: turns[last].filter, settings: true})
			}
		}
	}
	return all
}

// Run takes all turns and passes what each measured to done.
func (c *Config) Run(ctx context.Context, done func(Records)) error {
	turns := c.turns()
	for step, t := range turns {
		c.Progress(step, len(turns), t.String())
		records, err := c.take(ctx, t)
		if err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		done(records)
	}
	return nil
}

// take fills a new database and measures in it.
func (c *Config) take(ctx context.Context, t turn) (r Records, err error) {
	dir := filepath.Join(c.Dir, "db")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &database{Engine: t.engine, Config: engine.Config{
		Dir: dir, Filter: t.filter, Bits: c.Bits, Bytes: c.DataBytes(), Cache: c.Cache(t.filter),
		OnFatal: c.OnFatal,
	}}
	load, err := d.load(ctx, c.Keys)
	if err != nil {
		return r, err
	}
	if t.settings {
		r.Settings, err = d.settings(ctx, c.Keys.Between)
		return r, err
	}
	misses, hits := c.split(c.Keys.Between), c.split(c.Keys.Sample(reads+reads/3))
	hits.present = true
	if t.round == 1 {
		counted, err := d.count(ctx, misses)
		if err != nil {
			return r, err
		}
		r.Counted = []Counted{counted}
	}
	misses.measured = misses.measured[:min(reads, len(misses.measured))]
	r.Timed = []Timed{{Engine: t.engine.Name, Filter: t.filter, Round: t.round, Load: load}}
	return r, c.time(ctx, d, misses, hits, &r.Timed[0])
}

// time times lookups. In the long run some keys are then written again, and looked up.
func (c *Config) time(ctx context.Context, d *database, misses, hits lookups, t *Timed) error {
	err := d.time(ctx, c.Disk, timedPass{misses, &t.Miss}, timedPass{hits, &t.Hit})
	if err != nil || !c.All {
		return err
	}
	quarter := hits.measured[:(len(hits.measured)+3)/4]
	if err := d.rewrite(ctx, quarter); err != nil {
		return err
	}
	rewritten := c.split(quarter)
	rewritten.present = true
	return d.time(ctx, c.Disk, timedPass{rewritten, &t.Rewritten})
}

// split returns a quarter of the keys to fill the caches, with filters and indexes, and the others
// to measure. If all data is to be cached, all keys are looked up before. Then nothing waits, and a
// pass is over so soon that chance has a large part in its time: it is repeated.
func (c *Config) split(all [][]byte) lookups {
	quarter := (len(all) + 3) / 4
	if c.Cached {
		return lookups{warm: all, measured: all[quarter:], times: 20}
	}
	return lookups{warm: all[:quarter], measured: all[quarter:], times: 1}
}

// values is what values are pieces of.
var values = func() []byte {
	b := make([]byte, 1<<20)
	rand.New(rand.NewSource(1)).Read(b)
	return b
}()

// value returns the value of the key that is stored as the i-th.
func value(i int) []byte {
	at := i * 61 % (len(values) - valueSize)
	return values[at : at+valueSize]
}

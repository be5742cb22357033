// Package enginebench measures what filters do in storage engines.
//
// Contestants run by turns: a round runs each contestant once, in an order that rotates from round
// to round, so that what else the machine does affects all of them. The last contestant runs twice
// in a round; the difference between the two is noise.
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

// ErrLostKey marks the one error that must never come: a present key was not found.
var ErrLostKey = errors.New("a key is lost")

// again ends the name of a contestant that runs a second time in a round.
const again = " again"

// Config says what to run.
type Config struct {
	Engines   []engine.Engine
	Filters   []string // the last one runs twice
	Keys      *keys.Set
	ValueSize int
	Reads     int // lookups in each timed pass; on a slow disk, a quarter
	// Disks is how long reads of table data wait, the shortest first.
	Disks    []time.Duration
	Rounds   int
	Compact  bool // all keys into the deepest level, before they are looked up
	Bits     float64
	BaseLg   int
	Seed     int64
	Dir      string // an empty directory
	OnFatal  func(error)
	Progress report.Progress
}

// A Run is what one contestant did in one round. Speeds are per second.
type Run struct {
	Engine     string `json:"engine" doc:"storage engine"`
	Contestant string `json:"contestant" doc:"filter; 'again' marks its second run in a round"`
	Round      int    `json:"round" doc:"round, from 1"`

	Load float64 `json:"load_per_s" doc:"keys stored, flushed and compacted per second"`

	BetweenLookups int64 `json:"between_lookups" doc:"counted misses between present keys"`
	BetweenChecks  int64 `json:"between_checks" doc:"filters asked in these lookups"`
	BetweenAvoided int64 `json:"between_reads_avoided" doc:"filters that answered absent"`

	Filters     int64 `json:"filters" doc:"filters in the tables that are not empty"`
	FilterBytes int64 `json:"filter_bytes" doc:"bytes of these filters and of their index"`
	Keys        int64 `json:"filtered_keys" doc:"entries in tables that have filters"`

	Passes []Pass `json:"passes" doc:"the timed lookups"`
}

// Contestants returns the names of the contestants, in the order of the report.
func (c *Config) Contestants() []string {
	return append(append([]string{}, c.Filters...), c.Filters[len(c.Filters)-1]+again)
}

// filter returns the filter of a contestant.
func (c *Config) filter(contestant int) string {
	return c.Filters[min(contestant, len(c.Filters)-1)]
}

// DataBytes returns the bytes of all present keys and their values.
func (c *Config) DataBytes() int {
	return c.Keys.Len() * (len(c.Keys.AppendPresent(nil, 0)) + c.ValueSize)
}

// SmallCache returns the bytes of a block cache for all filters, all index blocks and a small part
// of the data. Without room for filters each check of one would be a read, and no filter would
// save any.
func (c *Config) SmallCache() int {
	filters := int(float64(c.Keys.Len()) * c.Bits / 8)
	indexes := c.DataBytes() / 128 // some 32 bytes for each block of 4 KiB
	return max(2*(filters+indexes), c.DataBytes()/16, 256<<10)
}

// LargeCache returns the bytes of a block cache for all of the data.
func (c *Config) LargeCache() int { return 2*c.DataBytes() + 8<<20 }

// queries are the keys that every run looks up; each key comes once.
type queries struct {
	hit, between [][]byte
	rewritten    [][]byte // of hit
	values       []byte   // random; a value is a piece of it
}

// of returns the keys that a pass looks up.
func (q queries) of(p Pass) [][]byte {
	switch p.Keys {
	case Miss:
		return q.between
	case Rewritten:
		return q.rewritten
	}
	return q.hit
}

// Run runs all contestants for all rounds and passes every finished run to done.
func (c *Config) Run(ctx context.Context, done func(Run)) error {
	values := make([]byte, 1<<20+c.ValueSize)
	rand.New(rand.NewSource(c.Seed)).Read(values)
	q := queries{hit: c.Keys.Present(c.Reads), between: c.Keys.Between(c.Reads), values: values}
	q.rewritten = q.hit[:(len(q.hit)+3)/4]

	contestants := c.Contestants()
	step, steps := 0, 0
	for _, e := range c.Engines {
		for i := range contestants {
			if e.Has(c.filter(i)) {
				steps += c.Rounds
			}
		}
	}
	for round := range c.Rounds {
		for _, e := range c.Engines {
			for i := range contestants {
				at := (i + round) % len(contestants)
				filter := c.filter(at)
				if !e.Has(filter) {
					continue
				}
				run := Run{Engine: e.Name, Contestant: contestants[at], Round: round + 1}
				c.Progress(step, steps, fmt.Sprintf("round %d of %d: %s, %s", run.Round, c.Rounds,
					e.Name, run.Contestant))
				step++
				if err := c.run(ctx, e, filter, q, &run); err != nil {
					return fmt.Errorf("%s, %s: %w", e.Name, run.Contestant, err)
				}
				done(run)
			}
		}
	}
	return nil
}

// run loads a new database and reads from it, first timed, then counted.
func (c *Config) run(ctx context.Context, e engine.Engine, filter string, q queries,
	run *Run) (err error) {
	dir := filepath.Join(c.Dir, "db")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	small := engine.Config{
		Dir: dir, Filter: filter, Bits: c.Bits, BaseLg: c.BaseLg,
		Scale: engine.ScaleFor(c.DataBytes()), Cache: c.SmallCache(), OnFatal: c.OnFatal,
	}
	err = with(e, small, func(db engine.DB) error {
		run.Load, err = c.load(ctx, db, q.values, small.Scale.Flushes)
		if err != nil || !c.Compact {
			return err
		}
		return db.Compact(ctx)
	})
	if err != nil {
		return err
	}
	large := small
	large.Cache = c.LargeCache()
	for _, config := range []struct {
		engine.Config
		passes []Pass
		warmUp float64
	}{{small, c.smallPasses(), 0.1}, {large, c.largePasses(), 1}} {
		passes, err := c.time(ctx, e, config.Config, q, config.passes, config.warmUp)
		if err != nil {
			return err
		}
		run.Passes = append(run.Passes, passes...)
	}
	err = with(e, small, func(db engine.DB) error {
		tables, err := db.Tables()
		run.Filters, run.FilterBytes, run.Keys = tables.Filters, tables.FilterBytes, tables.Keys
		return err
	})
	if err != nil {
		return err
	}
	run.BetweenLookups = int64(len(q.between))
	run.BetweenChecks, run.BetweenAvoided, err = counted(ctx, e, small, q.between)
	if err != nil {
		return err
	}
	if !e.L6 || !slices.Contains(c.Filters, engine.RibbonL6) {
		return nil
	}
	err = with(e, small, func(db engine.DB) error { return c.rewrite(ctx, db, q) })
	if err != nil {
		return err
	}
	passes, err := c.time(ctx, e, small, q, c.rewrittenPasses(), 1)
	run.Passes = append(run.Passes, passes...)
	return err
}

// with opens a database, calls f, and closes it. If f fails, the database stays open: an engine
// that could not write may never return from Close, and the program ends anyway.
func with(e engine.Engine, config engine.Config, f func(engine.DB) error) error {
	db, err := e.Open(config)
	if err != nil {
		return err
	}
	if err := f(db); err != nil {
		return err
	}
	return db.Close()
}

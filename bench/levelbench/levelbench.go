// Package levelbench compares plans of which encoding the filters of each level of a Pebble v2 database have, by what they do
// while keys are written and looked up at the same time: compactions make filters all the while, and lookups ask them.
package levelbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/policy"
)

// Config says what to run.
type Config struct {
	Plans      []Plan // the first one, to which the others are compared, runs twice
	Bits       float64
	Keys       int // loaded before the operations
	Operations int
	Writes     float64 // the part of the operations that store a key: half of them one that was loaded, half of them a new one
	Hits       float64 // the part of the lookups that look up a key that was loaded; the others look up absent ones
	ValueSize  int
	Shape      keyset.Shape
	Density    float64 // of all keys that are stored
	Read       engine.Read
	Factor     int // how much larger each level is than the one above
	Rounds     int
	Seed       int64
	Dir        string // an empty directory
	OnFatal    func(error)
	Progress   measure.Progress
}

// Check returns an error, which says what to pass instead, if c asks for what cannot be run.
func (c *Config) Check() error {
	if c.Keys < 1 || c.Keys > math.MaxInt32 {
		return fmt.Errorf("%d keys: pass 1 to %d", c.Keys, math.MaxInt32)
	}
	if c.Operations < 1 || c.Operations > math.MaxInt32 {
		return fmt.Errorf("%d operations: pass 1 to %d", c.Operations, math.MaxInt32)
	}
	if !(c.Writes >= 0 && c.Writes < 1) { // a NaN fails every comparison
		return fmt.Errorf("%v %% writes: pass 0 to less than 100", 100*c.Writes)
	}
	if !(c.Hits >= 0 && c.Hits < 1) {
		return fmt.Errorf("%v %% hits: pass 0 to less than 100", 100*c.Hits)
	}
	if c.ValueSize < 0 || c.ValueSize > 1<<20 {
		return fmt.Errorf("values of %d bytes: pass 0 to %d", c.ValueSize, 1<<20)
	}
	if c.Factor < 2 || c.Factor > 100 {
		return fmt.Errorf("factor %d: pass 2 to 100", c.Factor)
	}
	if c.Rounds < 1 {
		return fmt.Errorf("%d rounds: pass 1 or more", c.Rounds)
	}
	if len(c.Plans) == 0 {
		return errors.New("no plan: pass at least one")
	}
	_, err := policy.NewBloom(c.Bits) // all encodings take the same
	return err
}

// Contestants returns the plans in the order of the report.
func (c *Config) Contestants() []Plan {
	again := c.Plans[0]
	again.Name += " again"
	return append([]Plan{c.Plans[0], again}, c.Plans[1:]...)
}

// A Run is what one plan did in one round.
type Run struct {
	Plan   string
	Round  int           // from 1
	Time   time.Duration // for the operations
	CPU    time.Duration // of all threads, until compactions had come to rest; 0 if the system does not tell
	Lookup Latency       // of misses and hits
	Levels [engine.NumLevels]Level
	Tables engine.Tables // at the end
	Moved  int64         // tables that went down a level without being written anew
}

// Run runs all contestants for all rounds. A round's contestants come one after the other, in an order that rotates from
// round to round, so that what the machine does meanwhile falls on all of them.
func (c *Config) Run(ctx context.Context) (outcome Outcome, err error) {
	if err := c.Check(); err != nil {
		return outcome, err
	}
	w, err := c.newWorkload()
	if err != nil {
		return outcome, err
	}
	outcome.Counts = w.counts
	contestants := c.Contestants()
	c.Progress.Start(c.Rounds * len(contestants))
	defer c.Progress.Done()
	for round := range c.Rounds {
		for i := range contestants {
			plan := contestants[(i+round)%len(contestants)]
			c.Progress.Next(fmt.Sprintf("round %d of %d: %s", round+1, c.Rounds, plan.Name))
			run, err := c.run(ctx, plan, w)
			if err != nil {
				return outcome, fmt.Errorf("%s: %w", plan.Name, err)
			}
			run.Round = round + 1
			outcome.Runs = append(outcome.Runs, run)
		}
	}
	return outcome, nil
}

// An Outcome is what all runs did.
type Outcome struct {
	Counts Counts
	Runs   []Run
}

// run loads a new database, and then does the operations.
func (c *Config) run(ctx context.Context, plan Plan, w *workload) (run Run, err error) {
	dir := filepath.Join(c.Dir, "db")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := c.open(dir, plan, w.bytesOf(c.Keys))
	if err != nil {
		return run, err
	}
	// If it fails, the database stays open: Pebble, if it cannot write, may never return from Close, and the program ends anyway.
	if err := db.load(ctx, w); err != nil {
		return run, err
	}
	run, err = db.operate(ctx, w)
	if err != nil {
		return run, err
	}
	run.Plan = plan.Name
	if run.Tables, err = db.tables(); err != nil {
		return run, err
	}
	return run, db.Close()
}

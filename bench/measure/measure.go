// Package measure runs contestants in turn and records what each did.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/keyset"
)

// ErrLostKey marks the one error that must never come: a present key was not found.
var ErrLostKey = errors.New("a key is lost")

// A Contestant is an engine with a filter.
type Contestant struct {
	Engine engine.Engine
	Filter engine.Filter
	Again  bool // the same once more under another name: the difference is noise
}

// Name returns the contestant's name within its engine.
func (c Contestant) Name() string {
	if c.Again {
		return string(c.Filter) + " again"
	}
	return string(c.Filter)
}

// Config says what to run.
type Config struct {
	Engines   []engine.Engine
	Filters   []engine.Filter // the last one runs twice
	Keys      *keyset.Set
	ValueSize int
	Read      []engine.Read // engines skip those that they do not have
	Reads     int           // lookups in each timed pass
	Threads   int
	Rounds    int
	Bits      float64       // for goleveldb
	Levels    engine.Levels // for Pebble
	BaseLg    int
	Seed      int64
	Dir       string // an empty directory
	OnFatal   func(error)
	Progress  Progress
}

// Progress is told before each run and after the last.
type Progress interface {
	Start(total int)
	Next(what string)
	Done()
}

// Contestants returns the contestants of one engine, in the order of the report.
func (c *Config) Contestants(e engine.Engine) []Contestant {
	var all []Contestant
	for _, f := range c.Filters {
		all = append(all, Contestant{Engine: e, Filter: f})
	}
	return append(all, Contestant{Engine: e, Filter: c.Filters[len(c.Filters)-1], Again: true})
}

// DataBytes returns the bytes of all present keys and their values.
func (c *Config) DataBytes() int {
	return c.Keys.Len() * (len(c.Keys.AppendPresent(nil, 0)) + c.ValueSize)
}

// ReadsOf returns the ways to read that c asks for and e has.
func (c *Config) ReadsOf(e engine.Engine) (reads []engine.Read) {
	for _, r := range c.Read {
		if slices.Contains(e.Reads(), r) {
			reads = append(reads, r)
		}
	}
	return reads
}

// SmallCache returns the bytes of a block cache that holds a small part of the data, LargeCache of one that holds all.
func (c *Config) SmallCache() int { return max(c.DataBytes()/16, 256<<10) }

// LargeCache: see SmallCache.
func (c *Config) LargeCache() int { return 2*c.DataBytes() + 8<<20 }

// A Run is what one contestant did in one round.
type Run struct {
	Contestant Contestant
	Round      int  // from 1
	Load       Pass // keys stored, flushed and compacted; the latencies are those of storing
	Lookups    []Lookups
	Tables     engine.Tables
}

// Lookups is what one way of reading measured.
type Lookups struct {
	Read       engine.Read
	SmallCache Speed
	LargeCache Speed   // after all keys were looked up once
	Between    Answers // filters, asked for absent keys between the present ones
	Beyond     Answers // filters, asked for absent keys beyond the present ones
}

// Speed holds the timed passes over absent keys between the present ones, and over present keys.
type Speed struct{ Miss, Hit Pass }

// queries holds the keys that every run looks up; each key comes once.
type queries struct {
	hit, between, beyond [][]byte
	values               []byte // random; a value is a piece of it
}

// Run runs all contestants for all rounds. A round's contestants come one after the other, in an order that rotates from
// round to round, so that what the machine does meanwhile falls on all of them.
func (c *Config) Run(ctx context.Context) ([]Run, error) {
	values := make([]byte, 1<<20+c.ValueSize)
	rand.New(rand.NewSource(c.Seed)).Read(values)
	q := queries{c.Keys.Present(c.Reads), c.Keys.Between(c.Reads), c.Keys.Beyond(c.Reads), values}

	c.Progress.Start(c.Rounds * len(c.Engines) * (len(c.Filters) + 1))
	defer c.Progress.Done()
	var runs []Run
	for round := range c.Rounds {
		for _, e := range c.Engines {
			contestants := c.Contestants(e)
			for i := range contestants {
				contestant := contestants[(i+round)%len(contestants)]
				c.Progress.Next(fmt.Sprintf("round %d of %d: %s, %s", round+1, c.Rounds, e.Name(), contestant.Name()))
				run, err := c.run(ctx, contestant, q)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", e.Name(), contestant.Name(), err)
				}
				run.Round = round + 1
				runs = append(runs, run)
			}
		}
	}
	return runs, nil
}

// run loads a new database and reads from it, first timed, then counted.
func (c *Config) run(ctx context.Context, contestant Contestant, q queries) (run Run, err error) {
	dir := filepath.Join(c.Dir, "db")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := engine.Config{
		Dir:     dir,
		Filter:  contestant.Filter,
		Bits:    c.Bits,
		Levels:  c.Levels,
		BaseLg:  c.BaseLg,
		Scale:   engine.ScaleFor(c.DataBytes()),
		Cache:   c.SmallCache(),
		OnFatal: c.OnFatal,
	}
	run.Contestant = contestant
	err = with(contestant.Engine, config, func(db engine.DB) (err error) {
		run.Load, err = c.load(ctx, db, q.values, config.Scale.Flushes)
		return err
	})
	if err != nil {
		return run, err
	}
	for _, read := range c.ReadsOf(contestant.Engine) {
		lookups := Lookups{Read: read}
		if lookups.SmallCache, err = c.speed(ctx, contestant.Engine, config, read, q, 0.1); err != nil {
			return run, err
		}
		large := config
		large.Cache = c.LargeCache()
		if lookups.LargeCache, err = c.speed(ctx, contestant.Engine, large, read, q, 1); err != nil {
			return run, err
		}
		if lookups.Between, err = counted(ctx, contestant.Engine, config, read, q.between); err != nil {
			return run, err
		}
		if lookups.Beyond, err = counted(ctx, contestant.Engine, config, read, q.beyond); err != nil {
			return run, err
		}
		run.Lookups = append(run.Lookups, lookups)
	}
	err = with(contestant.Engine, config, func(db engine.DB) (err error) {
		run.Tables, err = db.Tables()
		return err
	})
	return run, err
}

// speed times lookups on the database opened again, so that nothing is left in memory of what was before. A part of the
// keys is looked up untimed first.
func (c *Config) speed(ctx context.Context, e engine.Engine, config engine.Config, read engine.Read, q queries, warmUp float64) (s Speed, err error) {
	err = with(e, config, func(db engine.DB) error {
		for _, pass := range []struct {
			result  *Pass
			keys    [][]byte
			present bool
		}{{&s.Miss, q.between, false}, {&s.Hit, q.hit, true}} {
			first := int(warmUp * float64(len(pass.keys)))
			if _, err := timed(ctx, db, read, pass.keys, first, pass.present, c.Threads); err != nil {
				return err
			}
			if *pass.result, err = timed(ctx, db, read, pass.keys, c.Reads, pass.present, c.Threads); err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

// with opens a database, calls f, and closes it. If f fails, the database stays open: an engine that could not write may
// never return from Close, and the program ends anyway.
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

// Of returns the runs of one contestant, in the order of the rounds.
func Of(runs []Run, c Contestant) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Contestant != c })
}

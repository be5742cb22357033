// Package enginebench measures what filters do in storage engines.
//
// First it counts checks and false positives, once for each filter: they do not depend on the
// machine. With goleveldb it also counts what misses cost by its settings. Then it times
// contestants, interleaved: a round runs each contestant once, in an order that rotates from round to
// round, so that other load on the machine affects all of them. The last contestant runs twice in a
// round; the difference between the two is noise.
package enginebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	Reads     int           // lookups in each pass
	Disk      time.Duration // how long reads of table data wait in a timed pass
	Cached    bool          // the block cache has room for all of the data
	Rounds    int
	Compact   bool // all keys into the deepest level, before they are looked up
	Bits      int
	BaseLg    int
	Seed      int64
	Dir       string // an empty directory
	OnFatal   func(error)
	Progress  report.Progress
}

// A Run is what one contestant did in one round. Rounds 0 and -1 only count, the others only time.
// Speeds are per second.
type Run struct {
	Engine     string `json:"engine"`     // storage engine
	Contestant string `json:"contestant"` // filter; 'again' marks its second run in a round
	Round      int    `json:"round"`      // from 1; rounds 0 and -1 count, and are not timed
	Setting    string `json:"setting"`    // goleveldb\'s settings in round -1

	Load      float64 `json:"load_per_s"` // keys stored, flushed and compacted per second
	Miss      Pass    `json:"miss"`       // timed lookups of absent keys between the present ones
	Hit       Pass    `json:"hit"`        // timed lookups of present keys
	Rewritten Pass    `json:"rewritten"`  // and of keys with an older version in a lower level

	BetweenLookups int64 `json:"between_lookups"`       // counted misses between present keys
	BetweenChecks  int64 `json:"between_checks"`        // filters consulted in these lookups
	BetweenAvoided int64 `json:"between_reads_avoided"` // filters that answered absent
	BetweenReads   int64 `json:"between_reads"`         // reads of table data in as many lookups again
	BetweenWritten int64 `json:"between_written"`       // bytes of tables, in round -1

	Filters     int64 `json:"filters"`       // filters in the tables that are not empty
	FilterBytes int64 `json:"filter_bytes"`  // bytes of these filters and of their index
	Keys        int64 `json:"filtered_keys"` // entries in tables that have filters
}

// A Pass is timed lookups of one sort of keys.
type Pass struct {
	PerSecond float64 `json:"per_s"` // lookups
	Reads     float64 `json:"reads"` // of table data, per lookup
}

// DataBytes returns the bytes of all present keys and their values.
func (c *Config) DataBytes() int {
	return len(c.Keys.Present) * (len(c.Keys.Present[0]) + c.ValueSize)
}

// Cache returns the bytes of the block cache. If not for all of the data, it has room for all
// filters, all index blocks and a small part of the data. Without room for filters each check of
// one would be a read, and no filter would save any.
func (c *Config) Cache() int {
	if c.Cached {
		return 2*c.DataBytes() + 8<<20
	}
	filters := len(c.Keys.Present) * c.Bits / 8
	indexes := c.DataBytes() / 128 // some 32 bytes for each block of 4 KiB
	return max(2*(filters+indexes), c.DataBytes()/16, 256<<10)
}

// queries are the keys that every run looks up; each key comes once.
type queries struct {
	hit, between [][]byte
	rewritten    [][]byte // of hit
	values       []byte   // random; a value is a piece of it
}

// A turn is a contestant of an engine in a round.
type turn struct {
	engine     engine.Engine
	contestant string
	round      int // from 1, or 0 to count, or settingsRound
}

func (t turn) filter() string { return strings.TrimSuffix(t.contestant, again) }

// turns lists all turns in order. The contestants rotate from round to round.
func (c *Config) turns() (all []turn) {
	timed := append(slices.Clone(c.Filters), c.Filters[len(c.Filters)-1]+again)
	for round := range c.Rounds + 1 {
		contestants := c.Filters
		if round > 0 {
			at := (round - 1) % len(timed)
			contestants = slices.Concat(timed[at:], timed[:at])
		}
		for _, e := range c.Engines {
			for _, contestant := range contestants {
				if t := (turn{e, contestant, round}); e.Has(t.filter()) {
					all = append(all, t)
				}
			}
			last := c.Filters[len(c.Filters)-1]
			if round == 0 && e.Name == "goleveldb" && last != engine.None && e.Has(last) {
				all = append(all, turn{e, last, settingsRound})
			}
		}
	}
	return all
}

// Run runs all turns and passes every finished run to done.
func (c *Config) Run(ctx context.Context, done func(Run)) error {
	values := make([]byte, 1<<20+c.ValueSize)
	rand.New(rand.NewSource(c.Seed)).Read(values)
	q := queries{hit: c.Keys.Sample(c.Reads), between: c.Keys.Between, values: values}
	q.rewritten = q.hit[:(len(q.hit)+3)/4]
	turns := c.turns()
	for step, t := range turns {
		name := t.engine.Name + ", " + t.contestant
		what := fmt.Sprintf("round %d of %d", t.round, c.Rounds)
		if t.round <= 0 {
			what = "counting"
		}
		c.Progress(step, len(turns), what+": "+name)
		if err := c.run(ctx, t, q, done); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// run loads a new database, counts or times lookups in it, and passes on what it measured.
func (c *Config) run(ctx context.Context, t turn, q queries, done func(Run)) (err error) {
	run := Run{Engine: t.engine.Name, Contestant: t.contestant, Round: t.round}
	dir := filepath.Join(c.Dir, "db")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := engine.Config{
		Dir: dir, Filter: t.filter(), Bits: c.Bits, BaseLg: c.BaseLg,
		Bytes: c.DataBytes(), Cache: c.Cache(), OnFatal: c.OnFatal,
	}
	err = with(t.engine, config, func(db engine.DB) error { return c.load(ctx, db, q.values, &run) })
	if err != nil {
		return err
	}
	switch t.round {
	case settingsRound:
		return c.settings(ctx, t.engine, config, run, q.between, done)
	case 0:
		err = count(ctx, t.engine, config, &run, q.between)
	default:
		err = c.passes(ctx, t.engine, config, q, &run)
	}
	if err == nil {
		done(run)
	}
	return err
}

// passes times lookups. Then some keys are written again, and looked up.
func (c *Config) passes(ctx context.Context, e engine.Engine, config engine.Config, q queries,
	run *Run) error {
	err := c.time(ctx, e, config, timed{&run.Miss, q.between, false}, timed{&run.Hit, q.hit, true})
	if err != nil {
		return err
	}
	err = with(e, config, func(db engine.DB) error { return c.rewrite(ctx, db, q) })
	if err != nil {
		return err
	}
	return c.time(ctx, e, config, timed{&run.Rewritten, q.rewritten, true})
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

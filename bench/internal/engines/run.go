package engines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A Record is what lookups read in an engine with a filter.
type Record struct {
	Engine       string `json:"engine"`
	Filter       string `json:"filter"`
	FilterBytes  int64  `json:"filter_bytes"`  // on disk
	FilteredKeys int64  `json:"filtered_keys"` // entries in tables that have filters
	Absent       Reads  `json:"absent"`        // of keys that are not in the database
	Present      Reads  `json:"present"`
}

// Reads are blocks of table data that lookups read.
type Reads struct {
	Lookups int   `json:"lookups"`
	Blocks  int64 `json:"blocks"`
}

// PerThousand returns the blocks for 1,000 lookups.
func (r Reads) PerThousand() float64 { return 1000 * float64(r.Blocks) / float64(r.Lookups) }

// Run fills all databases and counts, and returns what was counted before an error.
func (c *Config) Run(ctx context.Context) (all []Record, err error) {
	var turns []database
	for _, e := range c.Engines {
		for _, filter := range c.Filters {
			if filter != RibbonL6 || e.L6 {
				turns = append(turns, database{Engine: e, filter: filter, bits: c.Bits,
					bytes: c.dataBytes(), cache: c.cache(filter)})
			}
		}
	}
	if len(turns) == 0 {
		return nil, fmt.Errorf("--filters %q: pass a filter for these engines; goleveldb has no L6",
			c.Filters)
	}
	for i, d := range turns {
		what := d.Name + ", " + d.filter
		c.Progress(i, len(turns), what)
		if d.dir, err = os.MkdirTemp("", "levelbloom-bench-"); err != nil {
			return all, err
		}
		r, err := c.count(ctx, &d)
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		if err = errors.Join(err, os.RemoveAll(d.dir)); err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// count fills a new database, and counts what lookups read in it.
func (c *Config) count(ctx context.Context, d *database) (r Record, err error) {
	r.Engine, r.Filter = d.Name, d.filter
	if err := d.load(ctx, c.Keys); err != nil {
		return r, err
	}
	err = d.with(ctx, func(db DB) (err error) {
		r.FilterBytes, r.FilteredKeys, err = db.Filters()
		return err
	})
	if err != nil {
		return r, err
	}
	if r.Absent, err = c.lookUp(ctx, d, c.Keys.Between, false); err != nil {
		return r, err
	}
	r.Present, err = c.lookUp(ctx, d, c.Keys.Sample(Lookups), true)
	return r, err
}

// with opens the database, calls f, and closes it. If f fails, the database stays open unless it was
// interrupted: an engine that could not write may never return from Close, and the program ends
// anyway.
func (d *database) with(ctx context.Context, f func(DB) error) error {
	d.reads = new(atomic.Int64)
	db, err := d.Open(*d)
	if err != nil {
		return err
	}
	if err := f(db); err != nil && ctx.Err() == nil {
		return err
	}
	return errors.Join(context.Cause(ctx), db.Close())
}

// firstFlushes doublings take Pebble's memtable, which is small at first, from 256 KiB to more than
// it needs here. It is a multiple of the tables that an L0 compaction takes, so that L0 is as full
// at the end as flushes says.
const firstFlushes = 12

// load stores all keys. After each flush it waits for the compactions: the tree then depends on the
// keys, not on who is faster. The first tables contain one key.
func (d *database) load(ctx context.Context, set *keys.Set) error {
	return d.with(ctx, func(db DB) error {
		values := rand.NewChaCha8([32]byte{})
		for range firstFlushes {
			if err := store(ctx, db, set.Present[:1], values); err != nil {
				return err
			}
		}
		for part := range slices.Chunk(set.Present, (len(set.Present)+flushes-1)/flushes) {
			if err := store(ctx, db, part, values); err != nil {
				return err
			}
		}
		return nil
	})
}

// store stores keys, with random values, in one flush.
func store(ctx context.Context, db DB, all [][]byte, values *rand.ChaCha8) error {
	value := make([]byte, valueSize)
	for _, key := range all {
		values.Read(value)
		if err := db.Put(key, value); err != nil {
			return err
		}
	}
	return db.Settle(ctx)
}

// lookUp opens the database and looks keys up, all present or all absent: a quarter to fill the
// caches, with filters and indexes, and then the others, whose reads it returns. If all data is to
// be cached, it looks all up before.
func (c *Config) lookUp(ctx context.Context, d *database, all [][]byte, present bool) (
	r Reads, err error) {
	quarter := (len(all) + 3) / 4
	warm, counted := all[:quarter], all[quarter:]
	if c.Cached {
		warm = all
	}
	err = d.with(ctx, func(db DB) error {
		if err := find(ctx, db, warm, present); err != nil {
			return err
		}
		before := d.reads.Load()
		err := find(ctx, db, counted, present)
		r = Reads{len(counted), d.reads.Load() - before}
		return err
	})
	return r, err
}

// find looks keys up, which are all present or all absent.
func find(ctx context.Context, db DB, all [][]byte, present bool) error {
	const checkEvery = 1024 // lookups: the context is asked then
	for i, key := range all {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		found, err := db.Get(key)
		switch {
		case err != nil:
			return err
		case present && !found:
			return fmt.Errorf("%w: %x", keys.ErrLost, key)
		case !present && found:
			return fmt.Errorf("a key that was never stored was found: %x", key)
		}
	}
	return nil
}

package engines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A Record is what a filter did in an engine. Lookups of absent keys were counted in the first
// round, and are the same on every machine.
type Record struct {
	Engine       string    `json:"engine"`
	Filter       string    `json:"filter"`
	Lookups      int       `json:"lookups"`       // of absent keys
	Reads        int64     `json:"reads"`         // of table data in these lookups
	FilterBytes  int64     `json:"filter_bytes"`  // on disk
	FilteredKeys int64     `json:"filtered_keys"` // entries in tables that have filters
	Absent       []float64 `json:"absent_per_s"`  // timed lookups per second, by round
	Present      []float64 `json:"present_per_s"`
}

// Run takes all turns, and returns what those measured that were done before an error.
func (c *Config) Run(ctx context.Context) (all []Record, err error) {
	turns := c.turns()
	for step, t := range turns {
		c.Progress(step, len(turns), t.String())
		i := slices.IndexFunc(all, func(r Record) bool {
			return r.Engine == t.engine.Name && r.Filter == t.filter
		})
		r := Record{Engine: t.engine.Name, Filter: t.filter}
		if i >= 0 {
			r = all[i]
		}
		if err := c.take(ctx, t, &r); err != nil {
			return all, err
		}
		if i < 0 {
			all = append(all, r)
		} else {
			all[i] = r
		}
	}
	return all, nil
}

// take takes a turn in a directory of its own, which it removes.
func (c *Config) take(ctx context.Context, t turn, r *Record) error {
	dir, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return err
	}
	d := &database{Engine: t.engine, dir: dir, filter: t.filter, bits: c.Bits,
		bytes: c.dataBytes(), cache: c.cache(t.filter)}
	err = c.measure(ctx, d, r)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if err != nil {
		err = fmt.Errorf("%v: %w", t, err)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// measure fills a new database, and measures in it.
func (c *Config) measure(ctx context.Context, d *database, r *Record) error {
	if err := d.load(ctx, c.Keys); err != nil {
		return err
	}
	absent := c.split(c.Keys.Between, false)
	if len(r.Absent) == 0 {
		err := d.with(ctx, func(db DB) (err error) {
			r.FilterBytes, r.FilteredKeys, err = db.Filters()
			return err
		})
		if err != nil {
			return err
		}
		r.Lookups = len(absent.measured)
		if r.Reads, _, err = d.pass(ctx, absent, 0); err != nil {
			return err
		}
	}
	absent.measured = absent.measured[:min(timed, len(absent.measured))]
	_, absentSpeed, err := d.pass(ctx, absent, c.Disk)
	if err != nil {
		return err
	}
	_, presentSpeed, err := d.pass(ctx, c.split(c.Keys.Sample(timed+timed/3), true), c.Disk)
	if err != nil {
		return err
	}
	r.Absent, r.Present = append(r.Absent, absentSpeed), append(r.Present, presentSpeed)
	return nil
}

// with opens the database, calls f, and closes it. If f fails, the database stays open unless it was
// interrupted: an engine that could not write may never return from Close, and the program ends
// anyway.
func (d *database) with(ctx context.Context, f func(DB) error) error {
	d.disk = new(disk)
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

// lookups are keys to look up, all present or all absent: some that fill the caches, with filters
// and indexes, and then those that are measured.
type lookups struct {
	warm, measured [][]byte
	present        bool
}

// split returns lookups of a quarter of the keys to fill the caches, and of the others to measure.
// If all data is to be cached, all keys are looked up before.
func (c *Config) split(all [][]byte, present bool) lookups {
	quarter := (len(all) + 3) / 4
	l := lookups{all[:quarter], all[quarter:], present}
	if c.Cached {
		l.warm = all
	}
	return l
}

// pass opens the database and looks keys up in it, while a read waits that long. It returns the
// reads, and the lookups per second. The engines look keys up, and wait for the disk, on the thread
// of the caller, whose time it is.
func (d *database) pass(ctx context.Context, l lookups, latency time.Duration) (
	reads int64, perSecond float64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = d.with(ctx, func(db DB) error {
		if err := lookUp(ctx, db, l.warm, l.present); err != nil {
			return err
		}
		d.disk.latency.Store(int64(latency))
		before, start := d.disk.reads.Load(), filters.Now()
		err := lookUp(ctx, db, l.measured, l.present)
		perSecond = float64(len(l.measured)) / (filters.Now() - start).Seconds()
		reads = d.disk.reads.Load() - before
		return err
	})
	return reads, perSecond, err
}

// lookUp looks keys up, which are all present or all absent.
func lookUp(ctx context.Context, db DB, all [][]byte, present bool) error {
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

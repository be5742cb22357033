package enginebench

import (
	"context"
	"fmt"
	"runtime"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

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

// time opens the database and times lookups in it. The engines look keys up, and wait for the disk,
// on the thread of the caller, whose time it is. If all data is cached, nothing waits, and lookups
// are over so soon that chance has a large part in their time: they are repeated, and the fastest
// time counts.
func (c *Config) time(ctx context.Context, d *database, l lookups) (p Pass, err error) {
	times := 1
	if c.Cached {
		times = 20
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = d.with(func(db engine.DB) error {
		if err := lookUp(ctx, db, l.warm, l.present); err != nil {
			return err
		}
		d.Disk.Latency.Store(int64(c.Disk))
		before, n := d.Disk.Reads.Load(), float64(len(l.measured))
		for range times {
			start := filters.Now()
			if err := lookUp(ctx, db, l.measured, l.present); err != nil {
				return err
			}
			p.PerSecond = max(p.PerSecond, n/(filters.Now()-start).Seconds())
		}
		p.Reads = float64(d.Disk.Reads.Load()-before) / n / float64(times)
		return nil
	})
	return p, err
}

// count counts filters, and what lookups of absent keys read.
func (d *database) count(ctx context.Context, misses lookups) (r Counted, err error) {
	r = Counted{Engine: d.Name, Filter: d.Filter, Lookups: int64(len(misses.measured))}
	err = d.with(func(db engine.DB) (err error) {
		if r.Tables, err = db.Tables(); err != nil {
			return err
		}
		if err := lookUp(ctx, db, misses.warm, false); err != nil {
			return err
		}
		before := d.Disk.Reads.Load()
		err = lookUp(ctx, db, misses.measured, false)
		r.Reads = d.Disk.Reads.Load() - before
		return err
	})
	return r, err
}

// lookUp looks keys up, which are all present or all absent.
func lookUp(ctx context.Context, db engine.DB, all [][]byte, present bool) error {
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

package enginebench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/clock"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// lookups are keys to look up, all present or all absent: some that fill the caches, and then those
// that are measured.
type lookups struct {
	warm, measured [][]byte
	present        bool
	times          int // that a timed pass is repeated; the fastest one counts
}

// A timedPass is lookups, and where their speed goes.
type timedPass struct {
	lookups
	to *Pass
}

// time takes passes one after the other. The engines look keys up, and wait for the disk, on the
// thread of the caller, whose time it is.
func (d *database) time(ctx context.Context, latency time.Duration, passes ...timedPass) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return d.with(func(db engine.DB) error {
		for _, p := range passes {
			d.Disk.Latency.Store(0)
			if err := lookUp(ctx, db, p.warm, p.present); err != nil {
				return err
			}
			d.Disk.Latency.Store(int64(latency))
			before, n := d.Disk.Reads.Load(), float64(len(p.measured))
			for range p.times {
				start := clock.Now()
				if err := lookUp(ctx, db, p.measured, p.present); err != nil {
					return err
				}
				p.to.PerSecond = max(p.to.PerSecond, n/(clock.Now()-start).Seconds())
			}
			p.to.Reads = float64(d.Disk.Reads.Load()-before) / n / float64(p.times)
		}
		return nil
	})
}

// count counts filters, and what lookups of absent keys read.
func (d *database) count(ctx context.Context, misses lookups) (r Counted, err error) {
	r = Counted{Engine: d.Name, Filter: d.Filter, Lookups: int64(len(misses.measured))}
	err = d.with(func(db engine.DB) error {
		tables, err := db.Tables()
		if err != nil {
			return err
		}
		r.Filters, r.FilterBytes, r.Keys = tables.Filters, tables.FilterBytes, tables.Keys
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

package enginebench

import (
	"context"
	"fmt"
	"runtime"
	"time"

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

// pass opens the database and measures lookups in it, in which a read waits that long. The engines
// look keys up, and wait for the disk, on the thread of the caller, whose time it is.
func (d *database) pass(ctx context.Context, l lookups, latency time.Duration) (
	p Pass, reads int64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = d.with(func(db engine.DB) error {
		if err := lookUp(ctx, db, l.warm, l.present); err != nil {
			return err
		}
		d.Disk.Latency.Store(int64(latency))
		before, start := d.Disk.Reads.Load(), filters.Now()
		err := lookUp(ctx, db, l.measured, l.present)
		n, seconds := float64(len(l.measured)), (filters.Now() - start).Seconds()
		reads = d.Disk.Reads.Load() - before
		p = Pass{PerSecond: n / seconds, Reads: float64(reads) / n}
		return err
	})
	return p, reads, err
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

package enginebench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A database is one that is opened again and again.
type database struct {
	engine.Engine
	engine.Config
	values *rand.ChaCha8
}

// with opens the database, calls f, and closes it. If f fails, the database stays open: an engine
// that could not write may never return from Close, and the program ends anyway.
func (d *database) with(f func(engine.DB) error) error {
	d.Disk = new(engine.Disk)
	db, err := d.Open(d.Config)
	if err != nil {
		return err
	}
	if err := f(db); err != nil {
		return err
	}
	return db.Close()
}

// firstFlushes doublings take Pebble's memtable, which is small at first, from 256 KiB to more than
// it needs here. It is a multiple of the tables that an L0 compaction takes, so that L0 is as full
// at the end as engine.Flushes says.
const firstFlushes = 12

// load stores all keys, and returns how many per second. After each flush it waits for the
// compactions: the tree then depends on the keys, not on who is faster, and the time includes all
// of the work, building filters too. The guard is in every table that is flushed; the first ones
// contain nothing else.
func (d *database) load(ctx context.Context, set *keys.Set) (perSecond float64, err error) {
	err = d.with(func(db engine.DB) error {
		for range firstFlushes {
			if err := d.store(ctx, db, [][]byte{set.Guard}); err != nil {
				return err
			}
		}
		n := len(set.Present)
		keysPerFlush := (n + engine.Flushes - 1) / engine.Flushes
		start := time.Now()
		for part := range slices.Chunk(set.Present, keysPerFlush) {
			if err := d.store(ctx, db, append(part, set.Guard)); err != nil {
				return err
			}
			start = start.Add(engine.Quiet) // Settle makes sure that all is idle
		}
		perSecond = float64(n) / time.Since(start).Seconds()
		return nil
	})
	return perSecond, err
}

// store stores keys, with random values, in one flush.
func (d *database) store(ctx context.Context, db engine.DB, keys [][]byte) error {
	value := make([]byte, valueSize)
	for _, key := range keys {
		d.values.Read(value)
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

package enginebench

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
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
		var idle time.Duration // not the load's: Settle makes sure that all is idle
		start := time.Now()
		for part := range slices.Chunk(set.Present, keysPerFlush) {
			if err := d.store(ctx, db, append(part, set.Guard)); err != nil {
				return err
			}
			idle += engine.Quiet
		}
		perSecond = float64(n) / (time.Since(start) - idle).Seconds()
		return nil
	})
	return perSecond, err
}

// rewrite stores keys again, in tables above those that have their older versions.
func (d *database) rewrite(ctx context.Context, keys [][]byte) error {
	return d.with(func(db engine.DB) error { return d.store(ctx, db, keys) })
}

// tables describes the tables and their filters.
func (d *database) tables() (all engine.Tables, err error) {
	err = d.with(func(db engine.DB) (err error) {
		all, err = db.Tables()
		return err
	})
	return all, err
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

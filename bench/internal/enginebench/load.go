package enginebench

import (
	"context"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// checkEvery is the number of operations between two looks at the context.
const checkEvery = 1024

// firstFlushes doublings take Pebble's memtable from 256 KiB to more than it needs here. It is a
// multiple of the tables that an L0 compaction takes, so that L0 is as full at the end
// as engine.Flushes says.
const firstFlushes = 12

// load stores all keys and measures how many per second. After each flush it waits for the
// compactions: the tree then depends on the keys, not on who is faster, and the time includes all
// of the work, building filters too.
func (c *Config) load(ctx context.Context, db engine.DB, values []byte, run *Run) error {
	put := func(i int, key []byte) error {
		at := i * 61 % (len(values) - c.ValueSize)
		return db.Put(key, values[at:at+c.ValueSize])
	}
	// The guard is in every table that is flushed. The first flushes contain nothing else, because
	// Pebble's memtable is small at first and doubles with each flush.
	flush := func(i int) error {
		if err := put(i, c.Keys.Guard); err != nil {
			return err
		}
		return db.Settle(ctx)
	}
	for range firstFlushes {
		if err := flush(0); err != nil {
			return err
		}
	}
	n := len(c.Keys.Present)
	keysPerFlush := (n + engine.Flushes - 1) / engine.Flushes
	var idle time.Duration // not the load's: Settle makes sure that all is idle
	start := time.Now()
	for i, key := range c.Keys.Present {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := put(i, key); err != nil {
			return err
		}
		if (i+1)%keysPerFlush == 0 || i+1 == n {
			if err := flush(i); err != nil {
				return err
			}
			idle += engine.Quiet
		}
	}
	run.Load = float64(n) / (time.Since(start) - idle).Seconds()
	if c.Compact {
		return db.Compact(ctx)
	}
	return nil
}

// rewrite stores keys again, in tables above those that have their older versions.
func (c *Config) rewrite(ctx context.Context, db engine.DB, q queries) error {
	for _, key := range q.rewritten {
		if err := db.Put(key, q.values[:c.ValueSize]); err != nil {
			return err
		}
	}
	return db.Settle(ctx)
}

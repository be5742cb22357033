package enginebench

import (
	"context"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// checkEvery is the number of operations between two looks at the context.
const checkEvery = 1024

// firstFlushes doublings take Pebble's memtable from 256 KiB to more than it needs here. It is a
// multiple of the tables that an L0 compaction takes, so that engine.ScaleFor's number of flushes
// ends as it says.
const firstFlushes = 12

// load stores all keys and returns how many per second. After each flush it waits for the
// compactions: the tree then depends on the keys, not on who is faster, and the time includes all
// of the work, building filters too.
func (c *Config) load(ctx context.Context, db engine.DB, values []byte, flushes int) (
	perSecond float64, err error) {
	var key []byte
	put := func(i int) error {
		at := i * 61 % (len(values) - c.ValueSize)
		return db.Put(key, values[at:at+c.ValueSize])
	}
	// The guard is in every table that is flushed. The first flushes contain nothing else, because
	// Pebble's memtable is small at first and doubles with each flush.
	flush := func(i int) (idle time.Duration, err error) {
		key = c.Keys.AppendGuard(key[:0])
		if err := put(i); err != nil {
			return 0, err
		}
		idleSince, err := db.Settle(ctx)
		return time.Since(idleSince), err
	}
	for range firstFlushes {
		if _, err := flush(0); err != nil {
			return 0, err
		}
	}
	n := c.Keys.Len()
	keysPerFlush := (n + flushes - 1) / flushes
	var idle time.Duration // not the load's: Settle makes sure that all is idle
	start := time.Now()
	for i := range n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		key = c.Keys.AppendPresent(key[:0], i)
		if err := put(i); err != nil {
			return 0, err
		}
		if (i+1)%keysPerFlush == 0 || i+1 == n {
			d, err := flush(i)
			if err != nil {
				return 0, err
			}
			idle += d
		}
	}
	return float64(n) / (time.Since(start) - idle).Seconds(), nil
}

// rewrite stores keys again, in tables above those that have their older versions.
func (c *Config) rewrite(ctx context.Context, db engine.DB, q queries) error {
	for _, key := range q.rewritten {
		if err := db.Put(key, q.values[:c.ValueSize]); err != nil {
			return err
		}
	}
	_, err := db.Settle(ctx)
	return err
}

// counted looks up absent keys and returns what the engine's filters were asked, and how often they
// answered "absent".
func counted(ctx context.Context, e engine.Engine, config engine.Config, keys [][]byte) (
	checks, avoided int64, err error) {
	config.Counting = true
	err = with(e, config, func(db engine.DB) error {
		err := lookups(ctx, db, keys, false)
		checks, avoided = db.Checks()
		return err
	})
	return checks, avoided, err
}

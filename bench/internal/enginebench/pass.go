package enginebench

import (
	"context"
	"fmt"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// timed is what a pass looks up: present keys, or absent ones.
type timed struct {
	*Pass
	keys    [][]byte
	present bool
}

// time runs passes on the database opened again, so that nothing is left in memory of what was
// before. Before each pass its keys are looked up once, untimed.
func (c *Config) time(ctx context.Context, e engine.Engine, config engine.Config,
	passes ...timed) error {
	config.Disk = new(engine.Disk)
	return with(e, config, func(db engine.DB) error {
		for _, p := range passes {
			config.Disk.Latency.Store(0)
			if err := lookups(ctx, db, p.keys, len(p.keys), p.present); err != nil {
				return err
			}
			config.Disk.Latency.Store(int64(c.Disk))
			readsBefore, start := config.Disk.Reads.Load(), time.Now()
			if err := lookups(ctx, db, p.keys, c.Reads, p.present); err != nil {
				return err
			}
			p.PerSecond = float64(c.Reads) / time.Since(start).Seconds()
			p.Reads = float64(config.Disk.Reads.Load()-readsBefore) / float64(c.Reads)
		}
		return nil
	})
}

// count looks up absent keys once each, and counts which filters the engine consults and how often
// they answer "absent". Then it counts the filters, and in the database opened again the reads.
func count(ctx context.Context, e engine.Engine, config engine.Config, run *Run,
	keys [][]byte) error {
	counting := config
	counting.Counting = true
	err := with(e, counting, func(db engine.DB) error {
		if err := lookups(ctx, db, keys, len(keys), false); err != nil {
			return err
		}
		run.BetweenLookups = int64(len(keys))
		run.BetweenChecks, run.BetweenAvoided = db.Checks()
		tables, err := db.Tables()
		run.Filters, run.FilterBytes, run.Keys = tables.Filters, tables.FilterBytes, tables.Keys
		return err
	})
	if err != nil {
		return err
	}
	config.Disk = new(engine.Disk)
	return with(e, config, func(db engine.DB) error {
		// What is read once, such as indexes, is cached after the first time.
		if err := lookups(ctx, db, keys, len(keys), false); err != nil {
			return err
		}
		before := config.Disk.Reads.Load()
		err := lookups(ctx, db, keys, len(keys), false)
		run.BetweenReads = config.Disk.Reads.Load() - before
		return err
	})
}

// lookups looks up n keys, again from the first one after the last one. All are present, or all are
// absent.
func lookups(ctx context.Context, db engine.DB, keys [][]byte, n int, present bool) error {
	for i := range n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		key := keys[i%len(keys)]
		found, err := db.Get(key)
		switch {
		case err != nil:
			return err
		case present && !found:
			return fmt.Errorf("%w: %x", ErrLostKey, key)
		case !present && found:
			return fmt.Errorf("a key that was never stored was found: %x", key)
		}
	}
	return nil
}

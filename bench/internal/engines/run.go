package engines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A Record is what lookups in an engine with a filter read, and how long they took.
type Record struct {
	Engine  string `json:"engine"`
	Filter  string `json:"filter"`
	Keys    int    `json:"keys"`
	Bytes   int64  `json:"table_bytes"` // of all tables
	Absent  Pass   `json:"absent"`      // of keys that are not in the database
	Present Pass   `json:"present"`
}

// A Pass is lookups of one sort of keys. The first round tells what they read: it is about the same
// in each.
type Pass struct {
	Lookups int       `json:"lookups"`            // that are counted
	Blocks  int64     `json:"blocks"`             // of table data that these read
	Seconds []float64 `json:"seconds_per_lookup"` // of the thread, by round
}

// PerThousand returns the blocks for 1,000 lookups.
func (p Pass) PerThousand() float64 { return 1000 * float64(p.Blocks) / float64(p.Lookups) }

// perSecond returns the lookups per second of each round, if each read takes as long as on disk.
func (p Pass) perSecond(disk time.Duration) (all []float64) {
	for _, seconds := range p.Seconds {
		all = append(all, 1/(seconds+p.PerThousand()/1000*disk.Seconds()))
	}
	return all
}

// Run fills all databases, counts and times.
func (c *Config) Run(ctx context.Context) (all []Record, err error) {
	dir, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	databases, err := c.databases(dir)
	if err != nil {
		return nil, err
	}
	steps := len(databases) + rounds - 1
	for i, d := range databases {
		c.Progress(i, steps, d.String())
		r, err := c.fill(ctx, d)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for round := 1; round < rounds; round++ {
		c.Progress(steps-rounds+round, steps, fmt.Sprintf("round %d of %d", round+1, rounds))
		for i := range databases {
			i = (i + round) % len(databases)
			if err := c.takeTurn(ctx, databases[i], &all[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// databases returns one for each filter of each engine, in directories of dir.
func (c *Config) databases(dir string) (all []*database, err error) {
	for _, e := range c.Engines {
		for _, filter := range c.Filters {
			if strings.HasSuffix(filter, L6) && !e.L6 {
				continue
			}
			p, err := policyOf(filter)
			if err != nil {
				return nil, fmt.Errorf("--filters: %w", err)
			}
			all = append(all, &database{Engine: e, filter: filter, policy: p, bytes: c.dataBytes(),
				dir: filepath.Join(dir, fmt.Sprint(len(all))), cache: c.cache(filter)})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("--filters %q: pass a filter for these engines; goleveldb has no L6",
			c.Filters)
	}
	return all, nil
}

// fill fills a database, and takes the first turn in it.
func (c *Config) fill(ctx context.Context, d *database) (r Record, err error) {
	r = Record{Engine: d.Name, Filter: d.filter, Keys: len(c.Keys.Present)}
	if err := d.load(ctx, c.Keys); err != nil {
		return r, err
	}
	files, err := os.ReadDir(d.dir)
	for _, file := range files {
		if name := file.Name(); strings.HasSuffix(name, ".ldb") || strings.HasSuffix(name, ".sst") {
			info, infoErr := file.Info()
			if infoErr != nil {
				return r, infoErr
			}
			r.Bytes += info.Size()
		}
	}
	return r, errors.Join(err, c.takeTurn(ctx, d, &r))
}

// takeTurn looks absent and present keys up.
func (c *Config) takeTurn(ctx context.Context, d *database, r *Record) error {
	if err := c.lookUp(ctx, d, &r.Absent, c.Keys.Absent, false); err != nil {
		return err
	}
	return c.lookUp(ctx, d, &r.Present, c.Keys.Sample(lookups), true)
}

// with opens the database, calls f, and closes it. If f fails, the database stays open unless it
// was interrupted: an engine that could not write may never return from Close, and the program ends
// anyway.
func (d *database) with(ctx context.Context, f func(DB) error) error {
	d.reads = new(atomic.Int64)
	db, err := d.Open(*d)
	if err == nil {
		err = errors.Join(f(db), ctx.Err())
	}
	if err == nil || db != nil && ctx.Err() != nil {
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		err = fmt.Errorf("%v: %w", d, err)
	}
	return err
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
// caches, with filters and indexes, and then the others, which it times. If all data is to be
// cached, it looks all up before. In the first round it counts what is read; if that is too little,
// it goes on with more keys. The engines look up and read on the thread of the caller.
func (c *Config) lookUp(ctx context.Context, d *database, p *Pass, all [][]byte,
	present bool) error {
	runtime.LockOSThread() // its clock is read
	defer runtime.UnlockOSThread()
	all, more := all[:min(lookups, len(all))], all[min(lookups, len(all)):]
	quarter := (len(all) + 3) / 4
	warm, timed := all[:quarter], all[quarter:]
	if c.Cached {
		warm, more = all, nil
	}
	return d.with(ctx, func(db DB) error {
		if err := find(db, warm, present); err != nil {
			return err
		}
		before, start := d.reads.Load(), filters.Now()
		err := find(db, timed, present)
		seconds := (filters.Now() - start).Seconds()
		p.Seconds = append(p.Seconds, seconds/float64(len(timed)))
		if len(p.Seconds) > 1 {
			return err
		}
		p.Lookups, p.Blocks = len(timed), d.reads.Load()-before
		for part := range slices.Chunk(more, 1024) {
			if err != nil || p.Blocks >= enoughBlocks {
				break
			}
			err = find(db, part, present)
			p.Lookups, p.Blocks = p.Lookups+len(part), d.reads.Load()-before
		}
		return err
	})
}

// find looks keys up, which are all present or all absent.
func find(db DB, all [][]byte, present bool) error {
	for _, key := range all {
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

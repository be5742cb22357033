package enginebench

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// A Pass is timed lookups. Its first fields say which lookups they are.
type Pass struct {
	Cache  string  `json:"cache" doc:"block cache: small or large"`
	DiskUs float64 `json:"disk_us" doc:"microseconds that a read of table data waits"`
	Keys   string  `json:"keys" doc:"miss (keys between the present ones), hit, or rewritten"`

	Lookups   int     `json:"lookups" doc:"lookups timed"`
	PerSecond float64 `json:"per_s" doc:"lookups per second"`
	Reads     float64 `json:"reads" doc:"reads of table data per lookup"`
}

// What the first fields of a Pass contain.
const (
	Miss, Hit = "miss", "hit"
	// Rewritten is hits of keys that were written again: most of them lie in two levels.
	Rewritten    = "rewritten"
	Small, Large = "small", "large"
)

// is reports whether p is the same lookups as other.
func (p Pass) is(other Pass) bool {
	return p.Cache == other.Cache && p.DiskUs == other.DiskUs && p.Keys == other.Keys
}

func (p Pass) String() string {
	text := fmt.Sprintf("%s, %s cache", p.Keys, p.Cache)
	if p.DiskUs > 0 {
		text += fmt.Sprintf(", %v", p.disk())
	}
	return text
}

func (p Pass) disk() time.Duration { return time.Duration(p.DiskUs * 1000) }

// passes lists the timed passes of every engine.
func (c *Config) passes() []Pass { return append(c.smallPasses(), c.largePasses()...) }

// smallPasses lists those with a small cache, on every disk.
func (c *Config) smallPasses() (all []Pass) {
	for _, disk := range c.Disks {
		all = append(all, newPass(Small, disk, Miss), newPass(Small, disk, Hit))
	}
	return all
}

// largePasses lists those with a cache that has room for all data, which no disk slows down.
func (c *Config) largePasses() []Pass {
	return []Pass{newPass(Large, 0, Miss), newPass(Large, 0, Hit)}
}

// rewrittenPasses lists those of keys that were written again.
func (c *Config) rewrittenPasses() (all []Pass) {
	for _, disk := range c.Disks {
		all = append(all, newPass(Small, disk, Rewritten))
	}
	return all
}

func newPass(cache string, disk time.Duration, keys string) Pass {
	us := float64(disk) / float64(time.Microsecond)
	return Pass{Cache: cache, DiskUs: us, Keys: keys}
}

// time runs passes on the database opened again, so that nothing is left in memory of what was
// before. Before each pass a part of the keys is looked up, untimed.
func (c *Config) time(ctx context.Context, e engine.Engine, config engine.Config, q queries,
	passes []Pass, warmUp float64) (timed []Pass, err error) {
	config.Disk = new(engine.Disk)
	err = with(e, config, func(db engine.DB) error {
		for _, p := range passes {
			keys := q.of(p)
			config.Disk.SetLatency(0)
			first := int(warmUp * float64(len(keys)))
			if err := lookups(ctx, db, keys[:first], p.Keys != Miss); err != nil {
				return err
			}
			if err := c.timePass(ctx, db, config.Disk, keys, &p); err != nil {
				return err
			}
			timed = append(timed, p)
		}
		return nil
	})
	return timed, err
}

// timePass times a pass. On a slow disk it has fewer lookups.
func (c *Config) timePass(ctx context.Context, db engine.DB, disk *engine.Disk, keys [][]byte,
	p *Pass) error {
	n := c.Reads
	if p.DiskUs > 0 {
		n = (n + 3) / 4
	}
	asked := make([][]byte, n)
	for i := range asked {
		asked[i] = keys[i%len(keys)]
	}
	disk.SetLatency(p.disk())
	readsBefore, start := disk.Reads(), time.Now()
	err := lookups(ctx, db, asked, p.Keys != Miss)
	p.Lookups, p.PerSecond = n, float64(n)/time.Since(start).Seconds()
	p.Reads = float64(disk.Reads()-readsBefore) / float64(n)
	return err
}

// lookups looks up keys, which are all present or all absent.
func lookups(ctx context.Context, db engine.DB, keys [][]byte, present bool) error {
	for i, key := range keys {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
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

// Of returns a figure of the runs' pass p, or NaN.
func (p Pass) Of(figure func(Pass) float64) func(Run) float64 {
	return func(r Run) float64 {
		for _, timed := range r.Passes {
			if timed.is(p) {
				return figure(timed)
			}
		}
		return math.NaN()
	}
}

// Speed returns the runs' lookups per second in pass p.
func (p Pass) Speed() func(Run) float64 {
	return p.Of(func(timed Pass) float64 { return timed.PerSecond })
}

package enginebench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// A Pass is timed lookups. Its first fields say which lookups they are.
type Pass struct {
	Cache   string  `json:"cache" doc:"block cache: small or large"`
	DiskUs  float64 `json:"disk_us" doc:"microseconds that a read of table data waits"`
	Threads int     `json:"threads" doc:"goroutines that look up side by side"`
	Keys    string  `json:"keys" doc:"miss (keys between the present ones), hit, or rewritten"`

	PerSecond float64 `json:"per_s" doc:"lookups per second"`
	P50       float64 `json:"p50_us" doc:"microseconds of a lookup, median"`
	P99       float64 `json:"p99_us" doc:"microseconds, 99th percentile"`
	P999      float64 `json:"p999_us" doc:"microseconds, 99.9th percentile"`
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
	return p.Cache == other.Cache && p.DiskUs == other.DiskUs && p.Threads == other.Threads &&
		p.Keys == other.Keys
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
		for _, threads := range c.Threads {
			for _, keys := range []string{Miss, Hit} {
				all = append(all, newPass(Small, disk, threads, keys))
			}
		}
	}
	return all
}

// largePasses lists those with a cache that has room for all data, which no disk slows down.
func (c *Config) largePasses() []Pass {
	return []Pass{newPass(Large, 0, c.Threads[0], Miss), newPass(Large, 0, c.Threads[0], Hit)}
}

// rewrittenPasses lists those of keys that were written again.
func (c *Config) rewrittenPasses() (all []Pass) {
	for _, disk := range c.Disks {
		all = append(all, newPass(Small, disk, c.Threads[0], Rewritten))
	}
	return all
}

func newPass(cache string, disk time.Duration, threads int, keys string) Pass {
	us := float64(disk) / float64(time.Microsecond)
	return Pass{Cache: cache, DiskUs: us, Threads: threads, Keys: keys}
}

// time runs passes on the database opened again, so that nothing is left in memory of what was
// before. Before each pass a part of the keys is looked up, untimed.
func (c *Config) time(ctx context.Context, e engine.Engine, config engine.Config, q queries,
	passes []Pass, warmUp float64) (timed []Pass, err error) {
	config.Disk = engine.NewDisk(c.QueueDepth)
	err = with(e, config, func(db engine.DB) error {
		for _, p := range passes {
			keys := q.of(p)
			config.Disk.SetLatency(0)
			first := int(warmUp * float64(len(keys)))
			if err := lookups(ctx, db, keys[:first], p.Keys != Miss, nil); err != nil {
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
	// A read that waits keeps one of Go's processors.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + p.Threads))
	disk.SetLatency(p.disk())
	readsBefore := disk.Reads()
	own := make([][][]byte, p.Threads)
	histograms := make([]*hdrhistogram.Histogram, p.Threads)
	for i := range n {
		own[i%p.Threads] = append(own[i%p.Threads], keys[i%len(keys)])
	}
	errs := make([]error, p.Threads)
	var threads sync.WaitGroup
	start := time.Now()
	for t := range p.Threads {
		histograms[t] = hdrhistogram.New(1, int64(time.Hour), 3)
		threads.Add(1)
		go func() {
			defer threads.Done()
			errs[t] = lookups(ctx, db, own[t], p.Keys != Miss, histograms[t])
		}()
	}
	threads.Wait()
	p.PerSecond = float64(n) / time.Since(start).Seconds()
	p.Reads = float64(disk.Reads()-readsBefore) / float64(n)
	for _, h := range histograms[1:] {
		histograms[0].Merge(h)
	}
	us := func(percentile float64) float64 {
		return float64(histograms[0].ValueAtPercentile(percentile)) / 1e3
	}
	p.P50, p.P99, p.P999 = us(50), us(99), us(99.9)
	return errors.Join(errs...)
}

// lookups looks up keys, which are all present or all absent, and adds their times to times, unless
// it is nil.
func lookups(ctx context.Context, db engine.DB, keys [][]byte, present bool,
	times *hdrhistogram.Histogram) error {
	start := time.Now()
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
		if times != nil {
			end := time.Now()
			_ = times.RecordValue(end.Sub(start).Nanoseconds()) // an hour at most
			start = end
		}
	}
	return nil
}

// of returns a figure of the runs' pass p, or NaN.
func (p Pass) of(figure func(Pass) float64) func(Run) float64 {
	return func(r Run) float64 {
		for _, timed := range r.Passes {
			if timed.is(p) {
				return figure(timed)
			}
		}
		return math.NaN()
	}
}

// speed returns the runs' lookups per second in pass p.
func (p Pass) speed() func(Run) float64 {
	return p.of(func(timed Pass) float64 { return timed.PerSecond })
}

package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/levelbloom/levelbloom/bench/engine"
)

// A Pass is what a timed pass of lookups measured.
type Pass struct {
	PerSecond float64
	P50, P99  time.Duration
}

// Answers counts what filters answered for absent keys.
type Answers struct {
	Lookups int64
	Checks  int64 // filters asked
	Avoided int64 // filters that said "absent", each of which saved reading a table
}

// FalsePositives returns how many filters said "may contain".
func (a Answers) FalsePositives() int64 { return a.Checks - a.Avoided }

// checkEvery is the number of operations between two looks at the context.
const checkEvery = 1024

// firstFlushes doublings take Pebble's memtable from 256 KiB to more than it will ever need here. It is a multiple of
// the tables that an L0 compaction takes, so that engine.ScaleFor's number of flushes ends as it says.
const firstFlushes = 12

// load stores all keys and returns how many per second. After each flushed table it waits for the compactions: the tree
// then depends on the keys, not on who is faster, and the time holds all of the work, that of making filters included.
func (c *Config) load(ctx context.Context, db engine.DB, values []byte, flushes int) (perSecond float64, err error) {
	var key []byte
	put := func(i int) error {
		at := i * 61 % (len(values) - c.ValueSize)
		return db.Put(key, values[at:at+c.ValueSize])
	}
	// The guard goes into every table that is flushed. The first flushes hold nothing else, because Pebble's memtable is
	// small at first and doubles with each flush.
	flush := func(i int) error {
		key = c.Keys.AppendGuard(key[:0])
		return errors.Join(put(i), db.Settle(ctx))
	}
	for range firstFlushes {
		if err := flush(0); err != nil {
			return 0, err
		}
	}
	keysPerFlush := (c.Keys.Len() + flushes - 1) / flushes
	start := time.Now()
	for i := range c.Keys.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		key = c.Keys.AppendPresent(key[:0], i)
		if err := put(i); err != nil {
			return 0, err
		}
		if (i+1)%keysPerFlush == 0 || i+1 == c.Keys.Len() {
			if err := flush(i); err != nil {
				return 0, err
			}
		}
	}
	return float64(c.Keys.Len()) / time.Since(start).Seconds(), nil
}

// timed looks up keys with so many threads. One lookup in 16 is timed on its own: reading the clock around each would
// slow down the fast ones most.
func timed(ctx context.Context, db engine.DB, keys [][]byte, present bool, threads int) (Pass, error) {
	const timeEvery = 16
	var (
		done       sync.WaitGroup
		errs       = make([]error, threads)
		histograms = make([]*hdrhistogram.Histogram, threads)
	)
	start := time.Now()
	for thread := range threads {
		done.Add(1)
		go func() {
			defer done.Done()
			h := hdrhistogram.New(1, time.Minute.Nanoseconds(), 3)
			histograms[thread] = h
			for n, i := 0, thread; i < len(keys); n, i = n+1, i+threads {
				if n%checkEvery == 0 && ctx.Err() != nil {
					errs[thread] = context.Cause(ctx)
					return
				}
				var began time.Time
				if n%timeEvery == 0 {
					began = time.Now()
				}
				err := lookup(db, keys[i], present)
				if n%timeEvery == 0 && err == nil {
					err = h.RecordValue(max(1, time.Since(began).Nanoseconds()))
				}
				if err != nil {
					errs[thread] = err
					return
				}
			}
		}()
	}
	done.Wait()
	elapsed := time.Since(start)
	all := histograms[0]
	for thread, err := range errs {
		if err != nil {
			return Pass{}, err
		}
		if thread > 0 {
			all.Merge(histograms[thread])
		}
	}
	return Pass{
		PerSecond: float64(len(keys)) / elapsed.Seconds(),
		P50:       time.Duration(all.ValueAtQuantile(50)),
		P99:       time.Duration(all.ValueAtQuantile(99)),
	}, nil
}

// counted looks up absent keys and counts what the filters answered. Where the engine counts too, both must agree.
func counted(ctx context.Context, db engine.DB, keys [][]byte, counts *engine.Counts) (Answers, error) {
	for i, key := range keys {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return Answers{}, context.Cause(ctx)
		}
		if err := lookup(db, key, false); err != nil {
			return Answers{}, err
		}
	}
	checks, avoided := counts.Load()
	if c, a, ok := db.OwnCounts(); ok && (c != checks || a != avoided) {
		return Answers{}, fmt.Errorf("the engine counted %d checks and %d reads avoided, we %d and %d", c, a, checks, avoided)
	}
	return Answers{Lookups: int64(len(keys)), Checks: checks, Avoided: avoided}, nil
}

func lookup(db engine.DB, key []byte, present bool) error {
	found, err := db.Get(key)
	switch {
	case err != nil:
		return err
	case present && !found:
		return fmt.Errorf("%w: %x", ErrLostKey, key)
	case !present && found:
		return fmt.Errorf("a key that was never stored was found: %x", key)
	}
	return nil
}

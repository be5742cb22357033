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

// A Pass is what a timed pass measured.
type Pass struct {
	PerSecond float64
	P50, P99  time.Duration
}

// Answers counts what filters answered for absent keys.
type Answers struct {
	Lookups int64
	Checks  int64 // filters asked
	Avoided int64 // filters that said "absent", each of which saved reading a table
	Fuse    int64 // filters asked that are binary fuse, as not all that engine.Fuse writes are
	// BlockReads counts the blocks that the engine looked up in its cache, index and filter blocks among them.
	BlockReads int64
}

// FalsePositives returns how many filters said "may contain".
func (a Answers) FalsePositives() int64 { return a.Checks - a.Avoided }

// checkEvery is the number of operations between two looks at the context.
const checkEvery = 1024

// firstFlushes doublings take Pebble's memtable from 256 KiB to more than it will ever need here. It is a multiple of
// the tables that an L0 compaction takes, so that engine.ScaleFor's number of flushes ends as it says.
const firstFlushes = 12

// load stores all keys. After each flushed table it waits for the compactions: the tree then depends on the keys, not on
// who is faster, and the time holds all of the work, that of making filters included. The latencies are those of storing
// a key, without flushes and compactions.
func (c *Config) load(ctx context.Context, db engine.DB, values []byte, flushes int) (Pass, error) {
	var key []byte
	put := func(i int) error {
		at := i * 61 % (len(values) - c.ValueSize)
		return db.Put(key, values[at:at+c.ValueSize])
	}
	// The guard goes into every table that is flushed. The first flushes hold nothing else, because Pebble's memtable is
	// small at first and doubles with each flush.
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
			return Pass{}, err
		}
	}
	keysPerFlush := (c.Keys.Len() + flushes - 1) / flushes
	latencies := newHistogram()
	var idle time.Duration
	start := time.Now()
	for i := range c.Keys.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return Pass{}, context.Cause(ctx)
		}
		key = c.Keys.AppendPresent(key[:0], i)
		if err := sometimesTimed(i, latencies, func() error { return put(i) }); err != nil {
			return Pass{}, err
		}
		if (i+1)%keysPerFlush == 0 || i+1 == c.Keys.Len() {
			d, err := flush(i)
			if err != nil {
				return Pass{}, err
			}
			idle += d
		}
	}
	return newPass(c.Keys.Len(), time.Since(start)-idle, latencies), nil
}

// timed looks up n keys, the given ones over and over, with so many threads.
func timed(ctx context.Context, db engine.DB, read engine.Read, keys [][]byte, n int, present bool, threads int) (Pass, error) {
	var (
		done      sync.WaitGroup
		errs      = make([]error, threads)
		latencies = make([]*hdrhistogram.Histogram, threads)
	)
	for thread := range threads {
		latencies[thread] = newHistogram()
	}
	start := time.Now()
	for thread := range threads {
		done.Add(1)
		go func() {
			defer done.Done()
			errs[thread] = reading(db, read, func(find func([]byte) (bool, error)) error {
				for i, at := 0, thread; at < n; i, at = i+1, at+threads {
					if i%checkEvery == 0 && ctx.Err() != nil {
						return context.Cause(ctx)
					}
					key := keys[at%len(keys)]
					if err := sometimesTimed(i, latencies[thread], func() error { return lookup(find, key, present) }); err != nil {
						return err
					}
				}
				return nil
			})
		}()
	}
	done.Wait()
	elapsed := time.Since(start)
	for thread, err := range errs {
		if err != nil {
			return Pass{}, err
		}
		if thread > 0 {
			latencies[0].Merge(latencies[thread])
		}
	}
	return newPass(n, elapsed, latencies[0]), nil
}

// longest is the longest latency that is told from longer ones.
const longest = time.Minute

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest.Nanoseconds(), 3) }

func newPass(n int, elapsed time.Duration, latencies *hdrhistogram.Histogram) Pass {
	return Pass{
		PerSecond: float64(n) / elapsed.Seconds(),
		P50:       time.Duration(latencies.ValueAtQuantile(50)),
		P99:       time.Duration(latencies.ValueAtQuantile(99)),
	}
}

// sometimesTimed calls f, and records the time that it takes for one i in 16: reading the clock around each operation
// would slow down the fast ones most.
func sometimesTimed(i int, latencies *hdrhistogram.Histogram, f func() error) error {
	if i%16 != 0 {
		return f()
	}
	start := time.Now()
	if err := f(); err != nil {
		return err
	}
	return latencies.RecordValue(min(max(time.Since(start), 1), longest).Nanoseconds())
}

// counted looks up absent keys and counts what the filters answered. Where the engine counts too, both must agree.
func counted(ctx context.Context, e engine.Engine, config engine.Config, read engine.Read, keys [][]byte) (a Answers, err error) {
	config.Counts = new(engine.Counts)
	err = with(e, config, func(db engine.DB) error {
		before := db.Stats()
		err := reading(db, read, func(find func([]byte) (bool, error)) error {
			for i, key := range keys {
				if i%checkEvery == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := lookup(find, key, false); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		own := db.Stats()
		checks, avoided := config.Counts.Load()
		if own.Counts && (own.Checks != checks || own.Avoided != avoided) {
			return fmt.Errorf("the engine counted %d checks and %d reads avoided, we %d and %d", own.Checks, own.Avoided, checks, avoided)
		}
		a = Answers{Lookups: int64(len(keys)), Checks: checks, Avoided: avoided, Fuse: config.Counts.Fuse(), BlockReads: own.BlockReads - before.BlockReads}
		return nil
	})
	return a, err
}

// reading calls f with a new reader's Find and closes the reader.
func reading(db engine.DB, read engine.Read, f func(find func(key []byte) (bool, error)) error) error {
	r, err := db.Reader(read)
	if err != nil {
		return err
	}
	return errors.Join(f(r.Find), r.Close())
}

func lookup(find func(key []byte) (bool, error), key []byte, present bool) error {
	found, err := find(key)
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

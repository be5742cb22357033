package enginebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// Run takes all turns, and returns what those measured that were done before an error.
func (c *Config) Run(ctx context.Context) (all Records, err error) {
	turns := c.turns()
	for step, t := range turns {
		c.Progress(step, len(turns), t.String())
		r, err := c.takeTurn(ctx, t)
		if err != nil {
			return all, err
		}
		all.Counted = append(all.Counted, r.Counted...)
		all.Timed = append(all.Timed, r.Timed...)
	}
	return all, nil
}

// takeTurn takes a turn in a directory of its own, which it removes. It returns when the turn is
// done, or some seconds after an engine failed or the user interrupted it: engines that cannot
// write may never return from a call.
func (c *Config) takeTurn(ctx context.Context, t turn) (r Records, err error) {
	const patience = 2 * time.Second
	dir, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	ctx, fail := context.WithCancelCause(ctx) // the first error is the cause
	defer fail(nil)
	d := &database{Engine: t.engine, Config: engine.Config{
		Dir: dir, Filter: t.filter, Bits: c.Bits, Bytes: c.dataBytes(), Cache: c.cache(t.filter),
		OnFatal: fail,
	}, values: rand.NewChaCha8([32]byte{})}
	done := make(chan Records, 1)
	go func() {
		defer func() { // so that the directory is removed, and what was measured before is shown
			if p := recover(); p != nil {
				fail(fmt.Errorf("%v: panic: %v\n%s", t, p, debug.Stack()))
				done <- Records{}
			}
		}()
		r, err := c.measure(ctx, d, t.round)
		if err != nil {
			fail(fmt.Errorf("%v: %w", t, err))
		}
		done <- r
	}()
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(patience):
		}
	}
	return r, context.Cause(ctx)
}

// measure fills a new database, and measures in it.
func (c *Config) measure(ctx context.Context, d *database, round int) (r Records, err error) {
	t := Timed{Engine: d.Name, Filter: d.Filter, Round: round}
	if t.Load, err = d.load(ctx, c.Keys); err != nil {
		return r, err
	}
	misses := c.split(c.Keys.Between, false)
	hits := c.split(c.Keys.Sample(reads+reads/3), true)
	if round == 1 {
		n := Counted{Engine: d.Name, Filter: d.Filter, Lookups: int64(len(misses.measured))}
		err = d.with(func(db engine.DB) (err error) {
			n.Tables, err = db.Tables()
			return err
		})
		if err != nil {
			return r, err
		}
		if _, n.Reads, err = d.pass(ctx, misses, 0); err != nil {
			return r, err
		}
		r.Counted = []Counted{n}
	}
	misses.measured = misses.measured[:min(reads, len(misses.measured))]
	if t.Miss, _, err = d.pass(ctx, misses, c.Disk); err != nil {
		return r, err
	}
	if t.Hit, _, err = d.pass(ctx, hits, c.Disk); err != nil {
		return r, err
	}
	if c.All {
		again := hits.measured[:(len(hits.measured)+3)/4]
		err = d.with(func(db engine.DB) error { return d.store(ctx, db, again) })
		if err != nil {
			return r, err
		}
		if t.Rewritten, _, err = d.pass(ctx, c.split(again, true), c.Disk); err != nil {
			return r, err
		}
	}
	r.Timed = []Timed{t}
	return r, nil
}

// removeAll removes a directory. An engine that is stuck may still be writing: it tries for a
// while.
func removeAll(dir string) (err error) {
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

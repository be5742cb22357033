package enginebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// Run takes all turns in a directory of their own, which it removes, and returns what they measured
// when it is done, or some seconds after an engine failed or the user interrupted it: engines that
// cannot write may never return from a call.
func (c *Config) Run(ctx context.Context) (all Records, err error) {
	const patience = 2 * time.Second
	dir, err := os.MkdirTemp("", "levelbloom-bench-")
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	ctx, fail := context.WithCancelCause(ctx) // the first error is the cause
	defer fail(nil)
	measured := make(chan Records, len(c.turns()))
	done := make(chan error, 1)
	go func() { done <- c.takeTurns(ctx, dir, fail, measured) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(patience):
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	for len(measured) > 0 {
		all.add(<-measured)
	}
	return all, err
}

// takeTurns takes all turns in a directory, and sends what each measured. It calls fail with errors
// that an engine cannot go on from.
func (c *Config) takeTurns(ctx context.Context, dir string, fail func(error),
	measured chan<- Records) error {
	turns := c.turns()
	for step, t := range turns {
		c.Progress(step, len(turns), t.String())
		d := &database{Engine: t.engine, Config: engine.Config{
			Dir: filepath.Join(dir, "db"), Filter: t.filter, Bits: c.Bits, Bytes: c.dataBytes(),
			Cache: c.cache(t.filter), OnFatal: fail,
		}, values: rand.NewChaCha8([32]byte{})}
		records, err := c.takeTurn(ctx, d, t.round)
		if err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		measured <- records
	}
	return nil
}

// takeTurn fills a new database, measures in it, and removes it.
func (c *Config) takeTurn(ctx context.Context, d *database, round int) (r Records, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(d.Dir)) }()
	t := Timed{Engine: d.Name, Filter: d.Filter, Round: round}
	if t.Load, err = d.load(ctx, c.Keys); err != nil {
		return r, err
	}
	misses := c.split(c.Keys.Between, false)
	hits := c.split(c.Keys.Sample(reads+reads/3), true)
	if round == 1 {
		counted, err := d.count(ctx, misses)
		if err != nil {
			return r, err
		}
		r.Counted = []Counted{counted}
	}
	misses.measured = misses.measured[:min(reads, len(misses.measured))]
	if t.Miss, err = c.time(ctx, d, misses); err != nil {
		return r, err
	}
	if t.Hit, err = c.time(ctx, d, hits); err != nil {
		return r, err
	}
	if c.All {
		again := hits.measured[:(len(hits.measured)+3)/4]
		if err := d.rewrite(ctx, again); err != nil {
			return r, err
		}
		if t.Rewritten, err = c.time(ctx, d, c.split(again, true)); err != nil {
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

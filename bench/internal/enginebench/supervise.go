package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// Validate checks the settings, but for Keys and Dir. The error names the flag.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name               string
		value, least, most int
	}{
		{"bits", c.Bits, 1, 100}, // with more, engines' own filters differ from LevelDB's
		{"reads", c.Reads, 1, 1 << 30},
		{"rounds", c.Rounds, 1, 1 << 20},
		{"value-size", c.ValueSize, 0, 1 << 20},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("--%s %d: pass %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	if c.Disk < 0 || c.Disk > time.Second {
		return fmt.Errorf("--disk %v: pass 0s to 1s", c.Disk)
	}
	if err := goleveldb.WithFilterBaseLg(c.BaseLg)(&opt.Options{}); err != nil {
		return fmt.Errorf("--baselg: %w", err)
	}
	for _, filter := range c.Filters {
		if _, err := (engine.Config{Filter: filter, Bits: c.Bits}).Policy(); err != nil {
			return fmt.Errorf("--filters: %w", err)
		}
	}
	if len(c.turns()) == 0 {
		return fmt.Errorf("--filters %s: goleveldb has no L6: pass --engines pebblev2, or another "+
			"filter", engine.RibbonL6)
	}
	return nil
}

// Supervise runs all contestants in a directory of their own below Dir, which it removes, and
// returns the finished runs when it is done, or some seconds after an engine failed or the user
// interrupted it: engines that cannot write may never return from a call.
func (c *Config) Supervise(ctx context.Context) (runs []Run, err error) {
	const patience = 2 * time.Second
	if c.Dir, err = os.MkdirTemp(c.Dir, "levelbloom-bench-"); err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	defer func() { err = errors.Join(err, removeAll(c.Dir)) }()
	ctx, cancel := context.WithCancelCause(ctx)
	c.OnFatal = func(err error) { cancel(err) } // the first one is the cause
	var mu sync.Mutex
	var finished []Run
	done := make(chan error, 1)
	go func() {
		defer func() { // so that the directory is removed
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- c.Run(ctx, func(r Run) {
			mu.Lock()
			defer mu.Unlock()
			finished = append(finished, r)
		})
	}()
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
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(finished), err
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

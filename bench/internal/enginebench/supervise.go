package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// Validate checks the settings, but for Keys and Dir. The error names the flag.
func (c *Config) Validate() error {
	if c.Bits < 1 || c.Bits > 100 { // with more, engines' own filters differ from LevelDB's
		return fmt.Errorf("--bits %d: pass 1 to 100", c.Bits)
	}
	if c.Disk < 0 || c.Disk > time.Second {
		return fmt.Errorf("--disk %v: pass 0s to 1s", c.Disk)
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

// Supervise takes all turns in a directory of their own, which it removes, and returns what they
// measured when it is done, or some seconds after an engine failed or the user interrupted it:
// engines that cannot write may never return from a call.
func (c *Config) Supervise(ctx context.Context) (all Records, err error) {
	const patience = 2 * time.Second
	if c.Dir, err = os.MkdirTemp("", "levelbloom-bench-"); err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, removeAll(c.Dir)) }()
	ctx, cancel := context.WithCancelCause(ctx)
	c.OnFatal = cancel // the first one is the cause
	var mu sync.Mutex
	var finished Records
	done := make(chan error, 1)
	go func() {
		defer func() { // so that the directory is removed
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- c.Run(ctx, func(r Records) {
			mu.Lock()
			defer mu.Unlock()
			finished.add(r)
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
	return finished, err // a turn that is stuck, and ends later, appends to slices of its own
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

package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

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
	finished := make(chan Run)
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, func(r Run) { finished <- r }) }()
	var timeout <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case r := <-finished:
			runs = append(runs, r)
		case err := <-done:
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return runs, err
		case <-ended:
			timeout, ended = time.After(patience), nil
		case <-timeout:
			return runs, context.Cause(ctx)
		}
	}
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

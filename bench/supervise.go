package main

import (
	"context"
	"time"
)

// supervise calls run and returns when it is done, when it cannot go on, which it tells *onFatal, or, some seconds after an
// interruption, whatever an engine does: engines that cannot write may never return from a call.
func supervise[T any](ctx context.Context, onFatal *func(error), run func(context.Context) (T, error)) (result T, err error) {
	const patience = 5 * time.Second
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	fatal := make(chan error, 1)
	*onFatal = func(err error) {
		select {
		case fatal <- err:
		default: // the first one is the cause
		}
	}
	go func() {
		result, err := run(ctx)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case err := <-fatal:
		return result, err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(patience):
	}
	return result, context.Cause(ctx)
}

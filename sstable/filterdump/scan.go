package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// settings of the command line that concern single tables.
type settings struct {
	Open    tables.Options
	Analyze analysis.Options
	Key     []byte // not nil: explain the answers for this key instead
}

// scan analyzes the tables, several at once, and returns the results in their order. It calls done
// after each table, from several goroutines.
func scan(ctx context.Context, files []file, s settings, done func()) ([]*Result, error) {
	results := make([]*Result, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				results[i] = scanTable(ctx, files[i], s)
				done()
			}
		}()
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return results, context.Cause(ctx)
}

// A database writes a table under its final name, and the magic number at its very end. So a table
// without an end may still be being written if it has changed recently. In a database's directory
// it is looked at again until it is finished, deleted, or has not changed for writerRest. Elsewhere
// nothing tells whether somebody writes it: it is unfinished, which is not verified.
var writerRest = 10 * time.Second

func scanTable(ctx context.Context, f file, s settings) *Result {
	const pause = 20 * time.Millisecond
	for {
		before, statErr := os.Stat(f.path)
		r := lookSafely(ctx, f.path, s)
		if statErr != nil {
			return r
		}
		r.Size = before.Size()
		age := time.Since(before.ModTime())
		switch {
		case !r.noEnd || age >= writerRest:
			return r
		case !f.inDatabase || age < 0:
			r.Status = Unfinished
			return r
		}
		select {
		case <-ctx.Done():
			return r
		case <-time.After(pause):
		}
	}
}

// look reads a table in this process.
func look(ctx context.Context, path string, s settings) *Result {
	r := &Result{Path: path}
	t, err := tables.Open(path, s.Open)
	if err != nil {
		r.fail(err)
		return r
	}
	defer t.Close()
	r.describe(t.Info())
	if s.Key != nil {
		if r.KeyText, err = explainKey(ctx, t, s.Key); err != nil {
			r.fail(err)
		}
		return r
	}
	report, err := analysis.Analyze(ctx, t, s.Analyze)
	if err != nil {
		r.fail(err)
		return r
	}
	r.judge(report)
	return r
}

// lookSafely reads a table, in a child process if Pebble's reader is needed for it.
func lookSafely(ctx context.Context, path string, s settings) *Result {
	format, err := tables.FormatOf(path)
	if err != nil {
		r := &Result{Path: path, noEnd: errors.Is(err, tables.ErrNoEnd)}
		r.fail(err)
		return r
	}
	if tables.NeedsPebble(format) {
		return lookInChild(ctx, path, format, s)
	}
	return look(ctx, path, s)
}

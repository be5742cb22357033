package main

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// settings of the command line that concern single tables.
type settings struct {
	open    tables.Options
	analyse analysis.Options
}

// scan analyses the tables, several at once, and returns the results in their order. done is called after each table; it must
// be safe for concurrent use.
func scan(ctx context.Context, paths []string, s settings, done func()) ([]*Result, error) {
	results := make([]*Result, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				results[i] = scanTable(ctx, paths[i], s)
				done()
			}
		}()
	}
	for i := range paths {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return results, context.Cause(ctx)
}

func scanTable(ctx context.Context, path string, s settings) *Result {
	before, _ := os.Stat(path)
	r := analyseTable(ctx, path, s)
	if before != nil {
		r.Size = before.Size()
	}
	// A database writes a table under its final name, so one that looks damaged may just not be finished.
	if r.Status == Corrupt && before != nil && time.Since(before.ModTime()) < recently {
		time.Sleep(pause)
		now, err := os.Stat(path)
		if os.IsNotExist(err) {
			r.Status = Vanished
		} else if err == nil && (now.Size() != before.Size() || now.ModTime() != before.ModTime()) {
			r.Status = Unfinished
		}
	}
	return r
}

const (
	recently = 10 * time.Second
	pause    = 300 * time.Millisecond
)

func analyseTable(ctx context.Context, path string, s settings) *Result {
	r := &Result{Path: path}
	t, err := tables.Open(path, s.open)
	if err != nil {
		r.fail(err)
		return r
	}
	defer t.Close()
	r.describe(t.Info())
	report, err := analysis.Analyse(ctx, t, s.analyse)
	if err != nil {
		r.fail(err)
		return r
	}
	r.judge(report)
	return r
}

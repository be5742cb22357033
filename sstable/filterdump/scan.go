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
	// A database writes a table under its final name, and its magic number at the very end.
	if r.unfinished && before != nil && time.Since(before.ModTime()) < recently {
		r.Status = Unfinished
		if _, err := os.Stat(path); os.IsNotExist(err) {
			r.Status = Vanished
		}
	}
	return r
}

// recently is how long a writer may rest before its table is called corrupt.
const recently = 10 * time.Second

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

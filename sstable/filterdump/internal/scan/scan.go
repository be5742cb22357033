// Package scan verifies tables: can each be read, and do its filters match its keys?
package scan

import (
	"context"
	"runtime"
	"sync"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Options say what is known of the tables.
type Options struct {
	Policies []string // whose filters package policy reads: the patterns of tables.IsOurs
	Bytewise bool     // their database has the default comparer
}

// Verify verifies tables, several at once, and returns the results in their order. After each table
// it calls done, if that is not nil, maybe several times at once. The error is that of ctx.
func Verify(ctx context.Context, paths []string, o Options, done func()) ([]*Result, error) {
	results := make([]*Result, len(paths))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, path := range paths {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Add(1)
		go func() {
			defer running.Done()
			results[i] = verify(path, o)
			if done != nil {
				done()
			}
			<-slots
		}()
	}
	running.Wait()
	return results, context.Cause(ctx)
}

// verify verifies a table.
func verify(path string, o Options) *Result {
	r, err := tables.Guard(func() (*Result, error) { return read(path, o), nil })
	if err != nil {
		return failed(path, err)
	}
	return r
}

func read(path string, o Options) *Result {
	t, err := tables.Open(path, o.Policies)
	if err != nil {
		return failed(path, err)
	}
	defer t.Close()
	r := &Result{Path: path}
	if report, doubt, err := survey(t, o.Bytewise); err != nil {
		r = failed(path, err)
	} else {
		r.judge(report, doubt)
	}
	r.Info = *t.Info()
	if r.Filters != nil { // a result must not keep the filters
		r.Filters.Each = nil
	}
	return r
}

// Package scan verifies tables: can each be read, and do its filters match its keys?
package scan

import (
	"context"
	"runtime"
	"sync"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A File is a table to be verified. The comparer of a database is LevelDB's and Pebble's default.
type File struct {
	Path string // for the reader of the report
	Open string // the path by which it is opened
	tables.Options
}

// Verify verifies tables, several at once, and returns the results in their order. After each table
// it calls done, if that is not nil, maybe several times at once. The error is that of ctx.
func Verify(ctx context.Context, files []File, done func()) ([]*Result, error) {
	results := make([]*Result, len(files))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, f := range files {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Add(1)
		go func() {
			defer running.Done()
			results[i] = f.verify()
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
func (f File) verify() *Result {
	r, err := tables.Guard(func() (*Result, error) { return f.read(), nil })
	if err != nil {
		return f.failed(err)
	}
	return r
}

func (f File) read() *Result {
	t, err := tables.Open(f.Open, f.Options)
	if err != nil {
		return f.failed(err)
	}
	defer t.Close()
	r := &Result{Path: f.Path}
	if report, doubt, err := survey(t, f.Database); err != nil {
		r = f.failed(err)
	} else {
		r.judge(report, doubt)
	}
	r.Info = *t.Info()
	if r.Filters != nil { // a result must not keep the filters
		r.Filters.Each = nil
	}
	return r
}

// Package scan verifies tables: can each be read, and do its filters match its keys? Child
// processes read Pebble's tables.
package scan

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/child"
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
			results[i] = verify(ctx, order{path, o})
			if done != nil {
				done()
			}
			<-slots
		}()
	}
	running.Wait()
	return results, context.Cause(ctx)
}

// An order says which table a child reads.
type order struct {
	Path    string
	Options Options
}

var inChild = child.New("table", func(o order) (*Result, error) { return read(o), nil })

// verify verifies a table: in a child, if Pebble's reader reads it. The child takes about a
// hundredth of the time that it may take.
func verify(ctx context.Context, o order) *Result {
	pebble, size, err := tables.NeedsPebble(o.Path)
	switch {
	case err != nil:
		return failed(o.Path, err)
	case !pebble:
		return read(o)
	}
	limit := 20*time.Second + time.Duration(size>>20)*time.Second
	r, err := inChild.Run(ctx, limit, o)
	if err != nil {
		return failed(o.Path, err)
	}
	return r
}

// read verifies a table in this process.
func read(o order) *Result {
	t, err := tables.Open(o.Path, o.Options.Policies)
	if err != nil {
		return failed(o.Path, err)
	}
	defer t.Close()
	r := &Result{Path: o.Path}
	if report, doubt, err := survey(t, o.Options.Bytewise); err != nil {
		r = failed(o.Path, err)
	} else {
		r.judge(report, doubt)
	}
	r.Info = *t.Info()
	if r.Filters != nil { // a result must not keep the filters
		r.Filters.Each = nil
	}
	return r
}

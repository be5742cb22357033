package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// settings of the command line that concern single tables.
type settings struct {
	Bloom      []string // further policies whose filters package policy reads
	VerifyOnly bool     // measure nothing
	Key        []byte   // not nil: explain the answers for this key instead
}

// scan analyzes the tables, several at once, and returns the results in their order.
func scan(ctx context.Context, paths []string, s settings) ([]*Result, error) {
	results := make([]*Result, len(paths))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i := range paths {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Add(1)
		go func() {
			defer running.Done()
			results[i] = scanTable(ctx, paths[i], s)
			<-slots
		}()
	}
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}

// A database writes a table under its final name, and the magic number at its very end. So a file
// without an end that has changed recently may be a table that is being written, or a broken copy:
// it is unfinished, and cannot be verified. In a database's directory it is looked at again until
// it has its end, is deleted, has not changed for writerRest, or patience is over. A file that was
// changed in the future never rests, so it stays unfinished.
var (
	writerRest = 10 * time.Second
	patience   = time.Minute
)

func scanTable(ctx context.Context, path string, s settings) *Result {
	for start := time.Now(); ; {
		before, statErr := os.Stat(path)
		r := lookSafely(ctx, path, s)
		if statErr != nil {
			return r
		}
		r.Size = before.Size()
		age := time.Since(before.ModTime())
		if !r.noEnd || age >= writerRest {
			return r
		}
		r.Status = Unfinished
		manifests, _ := fs.Glob(os.DirFS(filepath.Dir(path)), "MANIFEST-*")
		if len(manifests) == 0 || age < 0 || time.Since(start) >= patience {
			return r
		}
		select {
		case <-ctx.Done():
			return r
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// look reads a table in this process.
func look(ctx context.Context, path string, s settings) *Result {
	r := &Result{Path: path}
	t, err := tables.Open(path, s.Bloom...)
	if err != nil {
		r.fail(err)
		return r
	}
	defer t.Close()
	r.Info = *t.Info()
	if r.Filters != nil {
		defer func() { r.Each = nil }() // a result must not keep the filters
	}
	if s.Key != nil {
		if r.KeyText, err = explainKey(ctx, t, s.Key); err != nil {
			r.fail(err)
		}
		return r
	}
	report, err := analysis.Analyze(ctx, t, s.VerifyOnly)
	if err != nil {
		r.fail(err)
		return r
	}
	r.judge(report)
	return r
}

// lookSafely reads a table, in a child process if Pebble's reader is needed for it.
func lookSafely(ctx context.Context, path string, s settings) *Result {
	pebble, err := tables.NeedsPebble(path)
	switch {
	case err != nil:
		r := &Result{Path: path}
		r.fail(err)
		r.noEnd = r.Status == Corrupt && errors.Is(err, tables.ErrNoEnd)
		return r
	case pebble:
		return lookInChild(ctx, path, s)
	}
	return look(ctx, path, s)
}

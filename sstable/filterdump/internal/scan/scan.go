// Package scan reads the tables of a database: what each is like, and what its filter and an engine
// do with given keys. Pebble's tables are read in processes of their own.
package scan

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

// Settings concern all tables.
type Settings struct {
	Bloom []string // further policies whose filters package policy reads
	Key   []byte   // not nil: explain the answers for this key instead
}

// A Reader reads tables, several at once. Its methods are safe for concurrent use. Close ends its
// processes.
type Reader struct {
	Settings
	idle chan *child
}

// NewReader returns a reader.
func NewReader(s Settings) *Reader {
	return &Reader{s, make(chan *child, runtime.GOMAXPROCS(0))}
}

// Each calls f for the numbers below n, several at once. The error is that of ctx.
func (r *Reader) Each(ctx context.Context, n int, f func(i int)) error {
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Add(1)
		go func() {
			defer running.Done()
			f(i)
			<-slots
		}()
	}
	running.Wait()
	return context.Cause(ctx)
}

// Tables analyzes tables and returns the results in their order. It offers their keys to sample,
// unless that is nil.
func (r *Reader) Tables(
	ctx context.Context, paths []string, sample *analysis.Sample,
) ([]*Result, error) {
	results := make([]*Result, len(paths))
	var lock sync.Mutex
	err := r.Each(ctx, len(paths), func(i int) {
		q := request{Path: paths[i], Settings: r.Settings}
		if sample != nil {
			lock.Lock()
			q.Below = sample.Bound()
			lock.Unlock()
		}
		results[i] = r.table(ctx, q)
		if sample != nil {
			lock.Lock()
			for _, key := range results[i].Sample {
				sample.Offer(key)
			}
			lock.Unlock()
		}
		results[i].Sample = nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// A table's magic number is at its very end. So a file without an end that has changed recently may
// be a table that is being written, or a copy: it is unfinished, and cannot be verified. The tables
// that a manifest names are complete.
const writerRest = 10 * time.Second

func (r *Reader) table(ctx context.Context, q request) *Result {
	info, statErr := os.Stat(q.Path)
	result := r.lookSafely(ctx, q)
	if statErr == nil {
		result.Size = info.Size()
		if result.noEnd && time.Since(info.ModTime()) < writerRest {
			result.Status = Unfinished
		}
	}
	return result
}

// lookSafely looks at a table, in a child process if Pebble's reader is needed for it.
func (r *Reader) lookSafely(ctx context.Context, q request) *Result {
	result := &Result{Path: q.Path}
	pebble, err := tables.NeedsPebble(q.Path)
	switch {
	case err != nil:
		result.fail(err)
		result.noEnd = result.Status == Corrupt && errors.Is(err, tables.ErrNoEnd)
		return result
	case !pebble:
		return look(ctx, q)
	}
	reply, err := r.inChild(ctx, q)
	if err != nil {
		result.fail(err)
		return result
	}
	return reply.Result
}

// look looks at a table in this process.
func look(ctx context.Context, q request) *Result {
	r := &Result{Path: q.Path}
	t, err := tables.Open(ctx, q.Path, q.Settings.Bloom...)
	if err != nil {
		r.fail(err)
		return r
	}
	defer t.Close()
	r.Info = *t.Info()
	if r.Filters != nil {
		defer func() { r.Each = nil }() // a result must not keep the filters
	}
	if q.Settings.Key != nil {
		if r.KeyText, err = explainKey(ctx, t, q.Settings.Key); err != nil {
			r.fail(err)
		}
		return r
	}
	sample := analysis.NewSample(q.Below)
	report, err := analysis.Analyze(ctx, t, sample)
	if err != nil {
		r.fail(err)
		return r
	}
	r.Sample = sample.Keys()
	r.judge(report)
	return r
}

// Ask asks a table. The errors are those of reading it.
func (r *Reader) Ask(ctx context.Context, path string, ask *Questions) (*Answers, error) {
	q := request{Path: path, Settings: r.Settings, Ask: ask}
	pebble, err := tables.NeedsPebble(path)
	switch {
	case err != nil:
		return nil, err
	case !pebble:
		return answer(ctx, q)
	}
	reply, err := r.inChild(ctx, q)
	if err != nil {
		return nil, err
	}
	return reply.Answers, nil
}

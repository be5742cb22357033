// Package scan reads the tables of a database: what each is like, whether its filters match its
// keys, and what lookups of absent keys meet in it. Child processes read Pebble's tables.
package scan

import (
	"context"
	"runtime"
	"sync"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A Reader reads tables. Its methods are safe for concurrent use.
type Reader struct {
	Bloom []string // further policies whose filters package policy reads
}

// Each calls f for the numbers below n, several at once. The error is that of ctx.
func Each(ctx context.Context, n int, f func(i int)) error {
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

// Verify verifies tables and returns the results in their order. It offers their keys to sample.
// The error is that of ctx.
func (r Reader) Verify(ctx context.Context, paths []string, sample *Sample) ([]*Result, error) {
	results := make([]*Result, len(paths))
	var lock sync.Mutex
	err := Each(ctx, len(paths), func(i int) {
		lock.Lock()
		below := sample.Bound()
		lock.Unlock()
		results[i] = r.Read(ctx, paths[i], &Question{Verify: true, Below: below})
		lock.Lock()
		defer lock.Unlock()
		for _, key := range results[i].Sample {
			sample.Offer(key)
		}
		results[i].Sample = nil
	})
	return results, err
}

// A Question says what to find out about a table, one thing at a time. Its keys are user keys in
// ascending order.
type Question struct {
	Verify bool     // are the filters sound?
	Below  uint64   // with Verify, the bound of a sample of the keys
	Keys   bool     // which keys are there?
	Next   [][]byte // which key follows each?
	Absent [][]byte // what do the filters say of each, and what does an engine read?
}

// Read answers a question about a table. If it cannot, the result has a status and a reason.
func (r Reader) Read(ctx context.Context, path string, q *Question) *Result {
	o := order{path, r.Bloom, q}
	pebble, err := tables.NeedsPebble(path)
	switch {
	case err != nil:
		return failed(path, err)
	case !pebble:
		return read(o)
	}
	result, err := readInChild(ctx, o)
	if err != nil {
		return failed(path, err)
	}
	return result
}

// read answers a question in this process.
func read(o order) *Result {
	t, err := tables.Open(o.Path, o.Bloom...)
	if err != nil {
		return failed(o.Path, err)
	}
	defer t.Close()
	r := &Result{Path: o.Path}
	switch q := o.Question; {
	case q.Verify:
		sample := NewSample(q.Below)
		if r.Report, err = verify(t, sample); err == nil {
			r.Sample = sample.Keys()
		}
	case q.Keys:
		err = r.Answer.readKeys(t)
	case q.Next != nil:
		err = r.Answer.readNext(t, q.Next)
	default:
		err = r.Answer.lookUpAll(t, q.Absent)
	}
	if err != nil {
		r = failed(o.Path, err)
	}
	r.Info = *t.Info()
	if r.Report != nil {
		r.judge()
	}
	if r.Filters != nil { // a result must not keep the filters
		r.Filters.Reader, r.Filters.Each = nil, nil
	}
	return r
}

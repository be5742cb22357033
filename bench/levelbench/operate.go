package levelbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/bench/measure"
)

// Latency says how long operations took.
type Latency struct{ P50, P99 time.Duration }

const (
	// checkEvery is the number of operations between two looks at the context.
	checkEvery = 1024
	// timeEvery is the number of operations between two that are timed, if they are lookups: reading the clock around each
	// one would slow all of them down.
	timeEvery = 16
	// longest is the longest latency that is told from longer ones.
	longest = time.Minute
)

// load stores the keys that are there before the operations, and waits until all compactions are done.
func (db *database) load(ctx context.Context, w *workload) error {
	loaded := w.keys[hit]
	for i := range loaded.count() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := db.Set(loaded.at(uint32(i)), w.value(i), pebble.NoSync); err != nil {
			return err
		}
	}
	if err := db.Flush(); err != nil {
		return err
	}
	return db.settle(ctx)
}

// operate does all operations, one after the other, while Pebble flushes and compacts on other threads. Then it waits for the
// compactions that are left: the CPU time and the counts hold all of the work.
func (db *database) operate(ctx context.Context, w *workload) (run Run, err error) {
	for _, m := range db.meters {
		if m != nil {
			m.take() // what the load made
		}
	}
	runtime.GC()
	latencies := hdrhistogram.New(1, longest.Nanoseconds(), 3)
	before := db.Metrics()
	cpu, err := cpuTime()
	if err != nil {
		return run, err
	}
	start := time.Now()
	for i, o := range w.operations {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return run, context.Cause(ctx)
		}
		if i%timeEvery != 0 || !o.action.looksUp() {
			err = db.do(o, w, i)
		} else {
			err = timed(latencies, func() error { return db.do(o, w, i) })
		}
		if err != nil {
			return run, err
		}
	}
	run.Time = time.Since(start)
	if err := db.settle(ctx); err != nil {
		return run, err
	}
	cpuAfter, err := cpuTime()
	if err != nil {
		return run, err
	}
	run.CPU = cpuAfter - cpu
	run.Lookup = Latency{time.Duration(latencies.ValueAtQuantile(50)), time.Duration(latencies.ValueAtQuantile(99))}

	after := db.Metrics()
	var all Answers
	for level, m := range db.meters {
		run.Moved += int64(after.Levels[level].TablesMoved - before.Levels[level].TablesMoved)
		if m != nil {
			run.Levels[level] = m.take()
			all = all.plus(run.Levels[level].Absent).plus(run.Levels[level].Present)
		}
	}
	if own := ownAnswers(after).minus(ownAnswers(before)); own != all {
		return run, fmt.Errorf("the engine counted %d checks and %d reads avoided, we %d and %d", own.Checks, own.Avoided, all.Checks, all.Avoided)
	}
	return run, nil
}

// ownAnswers returns what Pebble itself counts. Its "hits" are the reads avoided.
func ownAnswers(m *pebble.Metrics) Answers {
	return Answers{Checks: m.Filter.Hits + m.Filter.Misses, Avoided: m.Filter.Hits}
}

func timed(latencies *hdrhistogram.Histogram, f func() error) error {
	start := time.Now()
	if err := f(); err != nil {
		return err
	}
	return latencies.RecordValue(min(max(time.Since(start), 1), longest).Nanoseconds())
}

// do does operation o, which is the one of turn i.
func (db *database) do(o operation, w *workload, i int) error {
	key := w.keys[o.action].at(o.key)
	if !o.action.looksUp() {
		return db.Set(key, w.value(i), pebble.NoSync)
	}
	db.asking = o.action
	found, err := db.find(key)
	switch {
	case err != nil:
		return err
	case o.action == hit && !found:
		return fmt.Errorf("%w: %x", measure.ErrLostKey, key)
	case o.action == miss && found:
		return fmt.Errorf("a key that was never stored was found: %x", key)
	}
	return nil
}

// Package verdict says what a run of the engines means: which filters to use, what that gains and
// what it costs.
//
// It compares with what the reader has: the filters on disk, or the engine's own. A change must be
// beyond the noise and worth a reader's time. Every figure that depends on chance has its interval.
package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is all that verdicts depend on.
type Record struct {
	Runs enginebench.Runs
	Bits int   // bits per key of the run
	Disk *Disk // of the user's database, or nil
}

// A Verdict is about one engine.
type Verdict struct {
	Engine   string // in words
	Sentence string // what to do
	Facts    []string
	Code     []string // lines of Go to change
}

const (
	ribbon = "ribbon"

	// worth is how many fewer reads per 1,000 misses are worth a change: 7.5 us of a miss if a read
	// takes diskUs.
	worth  = 75
	diskUs = 100
)

// A choice is a filter in an engine.
type choice struct {
	filter   string
	runs     enginebench.Runs
	fpr      report.Figure // false positives per check, between the keys
	needless report.Figure // reads per 1,000 misses that a perfect filter would have avoided
}

// An inquiry is what a verdict about one engine follows from.
type inquiry struct {
	*Record
	engine    string
	now, best choice
}

// Verdicts returns a verdict for each engine that ran, unless its run has too little for one.
func (r *Record) Verdicts() (all []Verdict) {
	for _, e := range engine.Engines {
		q := &inquiry{Record: r, engine: e.Name}
		if q.now = q.has(); q.now.runs != nil && !math.IsNaN(q.now.needless.Middle) {
			q.best = q.find()
			all = append(all, Verdict{title(e.Name), q.sentence(), q.facts(), q.code()})
		}
	}
	return all
}

// has returns what the reader has: the filters on disk, with their rate if it is known, which counts
// more than a simulated one, or the engine's own.
func (q *inquiry) has() choice {
	if q.Disk == nil {
		return q.of(engine.BuiltIn)
	}
	now := q.of(q.Disk.Filter())
	if q.measured() && now.runs != nil {
		checks := float64(now.runs[0].BetweenChecks) / float64(now.runs[0].BetweenLookups)
		now.fpr = q.Disk.fpr()
		now.needless = now.fpr.Times(1000 * checks)
	}
	return now
}

// measured reports whether the rate of the filters on disk is known.
func (q *inquiry) measured() bool { return q.Disk != nil && q.Disk.Sample.Between.Asked > 0 }

// find returns the best choice: the first that no later one beats by what is worth a change.
func (q *inquiry) find() choice {
	best := q.now
	for _, filter := range []string{engine.BuiltIn, ribbon} {
		if c := q.of(filter); filter != q.now.filter && isWorth(best.needless, c.needless) {
			best = c
		}
	}
	return best
}

// isWorth reports whether fewer reads are so beyond the noise, and worth a change.
func isWorth(now, then report.Figure) bool {
	return then.High < now.Low && now.Middle-then.Middle >= worth
}

// of returns the figures of a filter. Without filters each check that others have is a read.
func (q *inquiry) of(filter string) choice {
	runs := q.Runs.Of(q.engine, filter)
	counted := runs
	if filter == engine.None {
		counted = slices.Clone(q.Runs.Of(q.engine, engine.BuiltIn))
		for i := range counted {
			counted[i].BetweenAvoided = 0
		}
	}
	return choice{filter, runs, counted.FPR(), counted.Needless()}
}

func (q *inquiry) changes() bool { return q.best.filter != q.now.filter }

func (q *inquiry) sentence() string {
	if q.changes() {
		source := ""
		if q.measured() {
			source = " (by the rate on disk)"
		}
		return fmt.Sprintf("Use %s instead of %s: %v needless reads per 1,000 misses (simulated), "+
			"not %v%s.", q.words(q.best), q.words(q.now), q.best.needless, q.now.needless, source)
	}
	saved := ""
	if part := q.saved(); part > 0 {
		saved = fmt.Sprintf("; ribbon saves %.0f\u00a0%% of the filters' memory at the same rate",
			100*part)
	}
	return "Keep what you have: no other filter saves you many reads" + saved + "."
}

// saved is the part of the filters' memory that small ribbon filters save at the same rate, or 0.
func (q *inquiry) saved() float64 {
	small := q.of(engine.RibbonSmall)
	if small.runs == nil || q.now.filter == ribbon || small.fpr.Low > q.now.fpr.High {
		return 0
	}
	return max(0, 1-small.runs.Median(enginebench.BytesPerKey)/
		q.now.runs.Median(enginebench.BytesPerKey))
}

func (q *inquiry) facts() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if now, best := q.now.needless, q.best.needless; q.changes() {
		add("If a read takes %d us, a miss takes %v us less.", diskUs, report.Figure{
			Middle: now.Middle - best.Middle, Low: now.Low - best.High, High: now.High - best.Low,
		}.Times(diskUs/1000.0))
	}
	if q.Disk != nil {
		add("%v", q.Disk)
	}
	tuned := q.of("tuned")
	if q.engine == "goleveldb" && q.changes() && q.best.filter == ribbon && tuned.runs != nil {
		add("If plain goleveldb or C++ LevelDB reads the files too: it finds every key, but cannot "+
			"use ribbon filters. It can use tuned ones (policy.NewBloom with policy.WithTuning(0.05)), "+
			"which leave %v needless reads.", tuned.needless)
	}
	if q.deep() {
		add("If you look up many absent keys: %s's own Get asks no filter in L6, where most keys "+
			"are, and 1,000 misses need %v reads (simulated). With filters there, and Has or Get of "+
			"the adapter, %v; but a present key takes a read more for each older version in a lower "+
			"level. The block cache must hold these filters too (CheckCache).", title(q.engine),
			readsOf(q.best), q.of(engine.RibbonL6).needless)
	}
	return all
}

// deep reports whether it is worth a change to ask filters in Pebble's L6.
func (q *inquiry) deep() bool {
	deep := q.of(engine.RibbonL6)
	return deep.runs != nil && isWorth(readsOf(q.best), deep.needless)
}

// readsOf returns the reads of 1,000 misses.
func readsOf(c choice) report.Figure {
	n := c.runs[0].BetweenLookups
	reads := c.runs.Median(enginebench.MissReads) * float64(n)
	return enginebench.Rate(int64(reads), n).Times(1000)
}

func (q *inquiry) words(c choice) string {
	switch c.filter {
	case engine.None:
		return "no filters"
	case engine.BuiltIn:
		return title(q.engine) + "'s own filters"
	}
	return c.filter + " filters"
}

// Lines returns the verdicts as text: of each a paragraph and lines of code.
func Lines(all []Verdict) (lines []string) {
	for _, v := range all {
		text := append([]string{v.Engine + ": " + v.Sentence}, v.Facts...)
		lines = append(lines, strings.Join(text, " "))
		for _, code := range v.Code {
			lines = append(lines, report.Code+code)
		}
	}
	return lines
}

func title(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }

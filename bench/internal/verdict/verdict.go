// Package verdict says what a run of the engines means: which filters to use, what that gains and
// what it costs.
//
// It compares with what the reader has: the filters on disk, or the engine's own. A change must be
// beyond the noise and worth a reader's time. Every figure that depends on chance has its interval.
package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is all that verdicts depend on.
type Record struct {
	Runs enginebench.Runs
	Bits float64 // bits per key of the run
	Own  bool    // the keys are the user's own
	Disk *Disk   // of the user's database, or nil
}

// A Verdict is about one engine.
type Verdict struct {
	Engine   string // in words
	Sentence string // what to do
	Facts    []string
	Code     []string // lines of Go to change
	Table    report.Table
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
	fpr      report.Spread // false positives per check, between the keys
	needless report.Spread // reads per 1,000 misses that a perfect filter would have avoided
}

// An inquiry is what a verdict about one engine follows from.
type inquiry struct {
	*Record
	engine    string
	choices   []choice
	now, best choice
}

// Verdicts returns a verdict for each engine that ran.
func (r *Record) Verdicts() (all []Verdict) {
	for _, name := range r.Runs.Engines() {
		if q := r.inquire(name); q != nil {
			all = append(all, Verdict{title(name), q.sentence(), q.facts(), q.code(), q.table()})
		}
	}
	return all
}

// inquire finds the best choice: the first that no later one beats by what is worth a change. It
// returns nil if the engine's run has too little for a verdict.
func (r *Record) inquire(name string) *inquiry {
	q := &inquiry{Record: r, engine: name}
	filters := r.Runs.Filters(name)
	for _, filter := range filters {
		q.choices = append(q.choices, q.choose(filter))
	}
	have := engine.BuiltIn
	if r.Disk != nil {
		have = r.Disk.filter()
	}
	if q.now = q.of(have); q.now.runs == nil || math.IsNaN(q.now.needless.Middle) {
		return nil
	}
	if q.measured() { // which counts more than what is simulated
		checks := q.now.needless.Middle / q.now.fpr.Middle
		q.now.fpr = r.Disk.fpr()
		q.now.needless = times(q.now.fpr, checks)
	}
	q.best = q.now
	for _, filter := range []string{engine.BuiltIn, ribbon} {
		c := q.of(filter)
		if filter != have && c.runs != nil && isWorth(q.best.needless, c.needless) {
			q.best = c
		}
	}
	return q
}

// measured reports whether the rate of the filters on disk is known.
func (q *inquiry) measured() bool { return q.Disk != nil && q.Disk.Sample.Between.Asked > 0 }

// isWorth reports whether fewer reads are so beyond the noise, and worth a change.
func isWorth(now, then report.Spread) bool {
	return then.High < now.Low && now.Middle-then.Middle >= worth
}

func (q *inquiry) of(filter string) choice {
	for _, c := range q.choices {
		if c.filter == filter {
			return c
		}
	}
	return choice{}
}

// choose returns the figures of a filter. All rounds count the same lookups: they are one count.
// Without filters each check that others have is a read.
func (q *inquiry) choose(filter string) choice {
	c := choice{filter: filter, runs: q.Runs.Of(q.engine, filter)}
	counted := c.runs
	if filter == engine.None {
		counted = q.Runs.Of(q.engine, engine.BuiltIn)
	}
	if len(counted) == 0 || counted[0].BetweenChecks == 0 {
		c.needless.Middle = math.NaN()
		return c
	}
	r := counted[0]
	positives := r.BetweenChecks - r.BetweenAvoided
	if filter == engine.None {
		positives = r.BetweenChecks
	}
	c.fpr = count(positives, r.BetweenChecks)
	c.needless = times(count(positives, r.BetweenLookups), 1000)
	return c
}

// small is the ribbon filter with fewer bits per key than the other filters.
func (q *inquiry) small() choice {
	for _, c := range q.choices {
		if strings.HasPrefix(c.filter, "ribbon:") {
			return c
		}
	}
	return choice{}
}

func (q *inquiry) sentence() string {
	keys := "These keys"
	if q.Own {
		keys = "Your keys"
	}
	if q.best.filter != q.now.filter {
		text := fmt.Sprintf("Use %s instead of %s: %s needless reads per 1,000 misses (simulated), "+
			"not %s", q.words(q.best), q.words(q.now), number(q.best.needless),
			number(q.now.needless))
		if q.measured() {
			text += " (by the rate on disk)"
		}
		return text + "."
	}
	text := keys + " suit every filter"
	if textbook := math.Pow(0.6185, q.Bits); q.now.fpr.Low > 2*textbook {
		text = "No other filter would save you many reads"
	}
	text += ". Keep what you have"
	if saved := q.saved(); saved > 0 {
		text += fmt.Sprintf("; ribbon saves %.0f\u00a0%% of the filters' memory at the same rate",
			100*saved)
	}
	return text + "."
}

// saved is the part of the filters' memory that small ribbon filters save at the same rate, or 0.
func (q *inquiry) saved() float64 {
	small := q.small()
	if small.runs == nil || q.now.filter == ribbon || small.fpr.Low > q.now.fpr.High {
		return 0
	}
	return max(0, 1-small.bytes()/q.now.bytes())
}

func (q *inquiry) facts() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if q.best.filter != q.now.filter {
		now, best := times(q.now.needless, diskUs/1000.0), times(q.best.needless, diskUs/1000.0)
		add("If a read takes %d us, a miss takes %s us less.", diskUs, number(report.Spread{
			Middle: now.Middle - best.Middle, Low: now.Low - best.High, High: now.High - best.Low}))
	}
	if q.Disk != nil {
		add("%v", q.Disk)
	}
	if tuned := q.of("tuned"); q.engine == "goleveldb" && q.best.filter == ribbon &&
		q.now.filter != ribbon && tuned.runs != nil {
		add("If plain goleveldb or C++ LevelDB reads the files too: it finds every key, but cannot "+
			"use ribbon filters. It can use tuned ones (policy.NewBloom with policy.WithTuning(0.05)), "+
			"which leave %s needless reads.", number(tuned.needless))
	}
	if s := q.l6(); s != "" {
		add("%s", s)
	}
	return all
}

// l6 says what lookups gain that ask the filters of Pebble's L6, if that is worth a change.
func (q *inquiry) l6() string {
	deep := q.of(engine.RibbonL6)
	if deep.runs == nil {
		return ""
	}
	reads := func(c choice) report.Spread {
		var n int64
		perLookup := c.runs.Median(q.miss().Of(func(p enginebench.Pass) float64 {
			n = int64(p.Lookups)
			return p.Reads
		}))
		return times(count(int64(perLookup*float64(n)), n), 1000)
	}
	now, then := reads(q.best), reads(deep)
	if !isWorth(now, then) {
		return ""
	}
	text := fmt.Sprintf("If you look up many absent keys: %s's own Get asks no filter in L6, where "+
		"most keys are, and 1,000 misses need %s reads (simulated). With filters there, and Has or "+
		"Get of the adapter, %s.", title(q.engine), number(now), number(then))
	p := q.miss()
	p.Keys = enginebench.Rewritten
	speed := deep.runs.Ratio(q.best.runs, p.Speed())
	if len(deep.runs) > 1 && (speed.High < 1 || speed.Low > 1) { // beyond the noise
		text += fmt.Sprintf(" Keys with an older version in a lower level are found %v times as "+
			"fast.", speed)
	}
	return text
}

// miss is the pass of misses on the fastest disk.
func (q *inquiry) miss() enginebench.Pass { return q.now.runs[0].Passes[0] }

func (c choice) bytes() float64 { return c.runs.Median(enginebench.BytesPerKey) }

func (q *inquiry) words(c choice) string {
	switch c.filter {
	case engine.None:
		return "no filters"
	case engine.BuiltIn:
		return title(q.engine) + "'s own filters"
	}
	return c.filter + " filters"
}

func (q *inquiry) table() report.Table {
	t := report.Table{
		Title: title(q.engine) + ", simulated: what each filter leaves and takes", Keys: 1,
		Columns: []string{"filter", "false positives", "needless reads per 1,000 misses",
			fmt.Sprintf("us of a miss, if a read takes %d us", diskUs), "filters, bytes per key",
			"loading, times as fast as " + q.now.filter},
	}
	for _, c := range q.choices {
		row := []string{c.filter, percent(c.fpr), number(c.needless),
			number(times(c.needless, diskUs/1000.0)), fmt.Sprintf("%.2f", c.bytes()),
			c.runs.Ratio(q.now.runs, enginebench.Load).String()}
		if c.filter == engine.None {
			row[1], row[4] = "", ""
		}
		t.Rows = append(t.Rows, row)
	}
	return t
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

// Headline returns the sentences of all verdicts, a line each.
func Headline(all []Verdict) string {
	if len(all) == 1 {
		return all[0].Sentence
	}
	var lines []string
	for _, v := range all {
		lines = append(lines, v.Engine+": "+v.Sentence)
	}
	return strings.Join(lines, "\n")
}

func title(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }

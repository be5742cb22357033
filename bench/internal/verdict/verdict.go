// Package verdict says what a run of the engines means: which filters to use, what that gains and
// what it costs. All of it is simulated: about an existing database, filterdump says what it counts
// there.
//
// It compares with the engine's own filters. A change must be beyond the noise and worth a reader's
// time. Every figure that depends on chance has its interval.
package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Verdict is about one engine, or about a database.
type Verdict struct {
	About    string
	Sentence string // what to do
	Pictures []Picture
	Code     []string // lines of Go to change, if any
	Facts    []string
}

const (
	ribbon = "ribbon"

	// few is how many keys are too few for a choice to matter: their filters take some KB.
	few = 5000
	// worth is how many fewer reads per 1,000 misses are worth a change: one in a hundred misses.
	worth  = 10
	diskUs = 100 // microseconds of a read
)

// An inquiry is what a verdict about one engine follows from: the runs that counted for its own
// filters, and for two of levelbloom's.
type inquiry struct {
	engine          engine.Engine
	bits            int
	own, best, deep enginebench.Run
}

// Of returns a verdict for each engine. keys is the number of keys that the databases stand for.
func Of(o *enginebench.Outcome, keys int) (all []Verdict) {
	for _, e := range o.Engines {
		counted := func(filter string) enginebench.Run { return o.Runs.Counted(e.Name, filter) }
		q := inquiry{e, o.Bits, counted(engine.BuiltIn), counted(ribbon), counted(engine.RibbonL6)}
		v := Verdict{About: title(e.Name), Pictures: pictures(o.Runs, e.Name)}
		switch missing := q.missing(o.Filters); {
		case missing != "":
			v.Sentence = "No verdict: " + missing + " were not measured."
		case keys < few:
			v.Sentence = fmt.Sprintf("Too few keys (%d): any filter does.", keys)
		default:
			q.judge(&v)
		}
		all = append(all, v)
	}
	return all
}

// pictures returns the reads with each filter that was counted in an engine.
func pictures(runs enginebench.Runs, engine string) []Picture {
	p := Picture{Title: "Reads per 1,000 lookups of absent keys (simulated)"}
	for _, r := range runs {
		if r.Engine == engine && r.Round == 0 {
			blocks := r.Blocks().Middle
			p.Rows = append(p.Rows, Row{r.Contestant, []Bar{{blocks, report.Digits(blocks)}}})
		}
	}
	if p.Rows == nil {
		return nil
	}
	return []Picture{p}
}

// missing names the filters that a verdict compares and that no run counted. Filters in L6 are
// compared if they were asked for.
func (q *inquiry) missing(asked []string) string {
	var names []string
	if !isCounted(q.own) {
		names = append(names, title(q.engine.Name)+"'s own filters")
	}
	if !isCounted(q.best) {
		names = append(names, "ribbon filters")
	}
	if q.engine.L6 && slices.Contains(asked, engine.RibbonL6) && !isCounted(q.deep) {
		names = append(names, "filters in L6")
	}
	return strings.Join(names, " and ")
}

func isCounted(r enginebench.Run) bool { return r.BetweenChecks > 0 }

// judge fills in what to do, the first of these that is worth a change: to consult filters in
// Pebble's L6, or to take ribbon filters. What memory a change saves depends on how large a database
// is, so filterdump says it.
func (q *inquiry) judge(v *Verdict) {
	add := func(format string, args ...any) { v.Facts = append(v.Facts, fmt.Sprintf(format, args...)) }
	configure := fmt.Sprintf("err = %s.Configure(options, p", q.engine.Name)
	switch own := title(q.engine.Name) + "'s own filters"; {
	case isCounted(q.deep) && isWorth(q.best.Blocks(), q.deep.Blocks()):
		v.Sentence = fmt.Sprintf("Use ribbon filters, in L6 too, and look up keys that may be absent "+
			"with the adapter's Has: %v reads per 1,000 misses (simulated), not %v.", q.deep.Blocks(),
			q.own.Blocks())
		v.Code = []string{newRibbon(q.bits), configure + ", " + q.engine.Name + ".WithL6(p))",
			fmt.Sprintf("found, err := %s.Has(db, key)", q.engine.Name)}
		q.addTime(v, q.own.Blocks(), q.deep.Blocks())
		add("%s's own Get does not consult filters in L6, where most keys are. Has does, and never "+
			"reads more. The block cache must hold these filters too: CheckCache says whether it does.",
			title(q.engine.Name))
	case isWorth(q.own.Needless(), q.best.Needless()):
		v.Sentence = fmt.Sprintf("Use ribbon filters instead of %s: %v needless reads per 1,000 "+
			"misses (simulated), not %v.", own, q.best.Needless(), q.own.Needless())
		v.Code = []string{newRibbon(q.bits), configure + ")"}
		q.addTime(v, q.own.Needless(), q.best.Needless())
	default:
		v.Sentence = "Keep what you have: no other filter saves you many reads."
	}
	if len(v.Code) > 0 && q.engine.Name == "goleveldb" {
		add("If another program must use the filters, such as plain goleveldb: p, err := " +
			"policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB)).")
	}
}

// addTime adds what fewer reads save.
func (q *inquiry) addTime(v *Verdict, now, then report.Figure) {
	less := report.Figure{Middle: now.Middle - then.Middle, Low: now.Low - then.High,
		High: now.High - then.Low}
	v.Facts = append(v.Facts, fmt.Sprintf("If a read takes %d us, a miss takes %v us less.", diskUs,
		less.Times(diskUs/1000.0)))
}

// isWorth reports whether fewer reads are so beyond the noise, and worth a change.
func isWorth(now, then report.Figure) bool {
	return then.High < now.Low && now.Middle-then.Middle >= worth
}

// newRibbon returns the line of Go that makes ribbon filters.
func newRibbon(bits int) string { return fmt.Sprintf("p, err := policy.NewRibbon(%d)", bits) }

// Lines returns the verdicts as text: of each a paragraph and lines of code.
func Lines(all []Verdict) (lines []string) {
	for _, v := range all {
		text := append([]string{v.About + ": " + v.Sentence}, v.Facts...)
		lines = append(lines, strings.Join(text, " "))
		for _, code := range v.Code {
			lines = append(lines, report.Code+code)
		}
	}
	return lines
}

func title(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }

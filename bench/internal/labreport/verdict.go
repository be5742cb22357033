package labreport

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// headline answers in a sentence which filter to use.
func headline(all []advice) string {
	if len(all) == 0 {
		return "What filters do"
	}
	worst := slices.MaxFunc(all, func(a, b advice) int { return cmp.Compare(a.Now.FPR, b.Now.FPR) })
	if worst.keep() {
		return fmt.Sprintf("Keep your engine's own filters: %s false positives, and others are "+
			"no better", percent(worst.Now.FPR))
	}
	return fmt.Sprintf("Use %s filters: %s false positives instead of %s in %s", worst.Kind.Name,
		percent(worst.Best.FPR), percent(worst.Now.FPR), title(worst.Engine))
}

// keep reports whether the engine's own filter is about as good as Best, or better.
func (a advice) keep() bool { return a.Best.FPR > 0.9*a.Now.FPR }

// A card is the verdict for an engine.
type card struct {
	Engine        string
	Adapter       string
	Kind          string
	Keep          bool   // the engine's own filter is as good
	Rough         string // a warning that too little was counted, or ""
	Now, Then     string // rates
	Before, After string // lines of Go
	Costs         []string
	Instead       *instead // or nil
}

// instead is another filter that some should prefer.
type instead struct{ Name, Use, Call, Cost string }

// diskUs is the time of a read, in microseconds, for which the page says how long a miss waits.
const diskUs = 100

// Of fewer false positives, a rate may well be wrong by more than a fifth, 2 / sqrt(fewPositives).
const fewPositives = 100

func cards(all []advice, bits float64, builds []speedRatio) (cards []card) {
	for _, a := range all {
		k := a.Kind
		c := card{
			Engine: title(a.Engine), Adapter: a.Engine, Kind: k.Name, Keep: a.keep(),
			Now: percent(a.Now.FPR), Then: percent(a.Best.FPR),
			Before: fmt.Sprintf(own[a.Engine], engine.WholeBits(bits)), After: k.Call(bits),
			Costs: []string{
				fmt.Sprintf("Memory: %s MB of filters per million keys; now %s MB.",
					digits(a.Best.MB, 3), digits(a.Now.MB, 3)),
				fmt.Sprintf("Needless reads: %s per 1,000 misses; now %s. If a read takes %d µs, "+
					"a miss waits %s µs for them on average; now %s µs.",
					digits(1000*a.Best.Reads, 2), digits(1000*a.Now.Reads, 2), diskUs,
					digits(diskUs*a.Best.Reads, 2), digits(diskUs*a.Now.Reads, 2)),
				a.speed(a.Best, builds),
			},
		}
		if n := a.Now.Counted; n < fewPositives {
			c.Rough = fmt.Sprintf("A rough verdict: only %d false positives of the engine's own "+
				"filter were counted. Measure with more keys.", n)
		}
		if k.Encoding != kind.Exact.Encoding {
			c.Costs = append(c.Costs, "Programs without this module, such as C++ LevelDB, still "+
				"find every key, but these filters save them no reads.")
		}
		if o := a.of(a.Compat.Name); a.Compat.Name != k.Name && o.Filter == a.Compat.Name {
			c.Instead = &instead{upper(o.Filter), a.Compat.Use, a.Compat.Call(bits),
				fmt.Sprintf("%s false positives, %s MB per million keys. %s", percent(o.FPR),
					digits(o.MB, 3), a.speed(o, builds))}
		}
		cards = append(cards, c)
	}
	return cards
}

// own is how the engines' own filters are asked for, with their bits per key.
var own = map[string]string{
	"goleveldb": "filter.NewBloomFilter(%d)",
	"pebblev1":  "bloom.FilterPolicy(%d)",
	"pebblev2":  "bloom.FilterPolicy(%d)",
}

// speed says how fast filters are built, and databases loaded if there was more than one round.
func (a advice) speed(c choice, builds []speedRatio) (text string) {
	for _, b := range builds {
		if b.contestant != c.Filter {
			continue
		}
		speed, whose := b.middle, b.base
		for _, own := range builds {
			if own.contestant == a.Engine {
				speed, whose = b.middle/own.middle, own.contestant
			}
		}
		if speed >= 1 {
			text += fmt.Sprintf("Building filters is %s times as fast as with %s's own. ",
				digits(speed, 2), title(whose))
		} else {
			text += fmt.Sprintf("Building filters takes %s times as long as with %s's own. ",
				digits(1/speed, 2), title(whose))
		}
	}
	switch s := c.Load; {
	case a.Rounds < 2:
	case s.Low > 1+a.Noise, s.High < 1-a.Noise:
		text += fmt.Sprintf("Loading a database: %s times as fast as now.", s)
	default:
		text += fmt.Sprintf("Loading a database: as fast as now, within noise (%.0f %%).",
			100*a.Noise)
	}
	return text
}

func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// choiceTable shows what each filter does in an engine.
func choiceTable(a advice) report.TextTable {
	t := report.TextTable{
		Title: title(a.Engine) + ": what each filter does and costs", Keys: 1,
		Columns: []string{"filter", "false positives", "needless reads per 1,000 misses",
			fmt.Sprintf("µs a miss waits for them, if a read takes %d µs", diskUs),
			"filters, MB per million keys"},
	}
	if a.Rounds > 1 {
		t.Columns = append(t.Columns, "load, times as fast as builtin")
	}
	for _, c := range a.Choices {
		row := []string{c.Filter, percent(c.FPR), digits(1000*c.Reads, 2),
			digits(diskUs*c.Reads, 2), digits(c.MB, 3)}
		if c.Filter == engine.None {
			row[1], row[4] = "", ""
		}
		if a.Rounds > 1 {
			row = append(row, c.Load.String())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

const notReached = "not reached"

// bitsTable says which of the measured bits per key each kind needs for a rate.
func bitsTable(records []ratebench.Record) report.TextTable {
	t := report.TextTable{Title: "Fewest bits per key, of those measured, for a rate", Keys: 1,
		Columns: []string{"filter"}}
	for _, k := range distinct(records, func(r ratebench.Record) string { return r.Kind }) {
		t.Rows = append(t.Rows, []string{k})
	}
	for _, of := range distinct(records, ratebench.Record.Of) {
		for _, target := range []float64{0.01, 0.001} {
			t.Columns = append(t.Columns, fmt.Sprintf("%v\u00a0%%, %s", 100*target, of))
			for i, row := range t.Rows {
				cell := notReached
				for _, r := range slices.Backward(records) {
					if r.Of() == of && r.Kind == row[0] && r.FPR <= target {
						cell = fmt.Sprint(r.Bits)
					}
				}
				t.Rows[i] = append(t.Rows[i], cell)
			}
		}
	}
	return t
}

// A section is a part of the page.
type section struct {
	ID, Title string
	Text      string
	Figures   []template.HTML
	Tables    []report.TextTable
}

// Verdict returns the headline.
func (r *Results) Verdict() string {
	p, err := r.decode()
	if err != nil {
		return err.Error()
	}
	return headline(advices(p.engines))
}

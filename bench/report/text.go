package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// A row of the table is one figure of a run.
type row struct {
	label  string
	format string
	figure func(measure.Run) float64 // NaN where it means nothing
}

// rows returns the rows of the table; baseline returns the run of the same engine and round without a filter.
func (r *Report) rows(baseline func(measure.Run) (measure.Run, bool)) []row {
	times := func(figure func(measure.Run) float64) func(measure.Run) float64 {
		return func(run measure.Run) float64 {
			base, ok := baseline(run)
			if !ok {
				return math.NaN()
			}
			return ratio(figure(run), figure(base))
		}
	}
	load := func(run measure.Run) float64 { return run.LoadPerSecond / 1e3 }
	miss := func(run measure.Run) float64 { return run.Miss.PerSecond / 1e3 }
	hit := func(run measure.Run) float64 { return run.Hit.PerSecond / 1e3 }
	return []row{
		{"load, thousand keys/s", "%.0f", load},
		{"  times no filter", "%.2f", times(load)},
		{"miss, thousand lookups/s", "%.0f", miss},
		{"  times no filter", "%.2f", times(miss)},
		{"  p50, µs", "%.1f", func(run measure.Run) float64 { return run.Miss.P50.Seconds() * 1e6 }},
		{"  p99, µs", "%.1f", func(run measure.Run) float64 { return run.Miss.P99.Seconds() * 1e6 }},
		{"hit, thousand lookups/s", "%.0f", hit},
		{"  times no filter", "%.2f", times(hit)},
		{"  p50, µs", "%.1f", func(run measure.Run) float64 { return run.Hit.P50.Seconds() * 1e6 }},
		{"  p99, µs", "%.1f", func(run measure.Run) float64 { return run.Hit.P99.Seconds() * 1e6 }},
		{"filter checks per miss", "%.2f", func(run measure.Run) float64 { return perLookup(run.Between, run.Between.Checks) }},
		{"table reads avoided per miss", "%.2f", func(run measure.Run) float64 { return perLookup(run.Between, run.Between.Avoided) }},
		{"FPR between, %", "%.2f", func(run measure.Run) float64 { return percentFPR(run.Between) }},
		{"FPR beyond, %", "%.2f", func(run measure.Run) float64 { return percentFPR(run.Beyond) }},
		{"  textbook's FPP, %", "%.2f", func(run measure.Run) float64 {
			switch run.Contestant.Filter {
			case engine.BuiltIn:
				return 100 * textbookFPP(r.BitsUsed.BuiltIn)
			case engine.LevelBloom:
				return 100 * textbookFPP(r.BitsUsed.LevelBloom)
			}
			return math.NaN()
		}},
		{"keys per filter", "%.0f", func(run measure.Run) float64 {
			return ratio(float64(run.Tables.FilteredKeys), float64(run.Tables.Filters))
		}},
		{"filter bytes per key", "%.2f", func(run measure.Run) float64 {
			return ratio(float64(run.Tables.FilterBytes), float64(run.Tables.FilteredKeys))
		}},
	}
}

func perLookup(a measure.Answers, n int64) float64 {
	if a.Checks == 0 {
		return math.NaN()
	}
	return ratio(float64(n), float64(a.Lookups))
}

func percentFPR(a measure.Answers) float64 {
	return 100 * ratio(float64(a.FalsePositives()), float64(a.Checks))
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%s, %d cores, %s/%s, %s, GOMAXPROCS %d\n", m.CPU, m.Cores, m.OS, m.Arch, m.GoVersion, m.GoMaxProcs)
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	b.WriteString("\n\n")
	for _, e := range r.Engines {
		r.writeEngine(&b, e)
	}
	b.WriteString(legend)
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `Median [min to max] over the rounds. A miss looks up an absent key that lies between the present ones, a hit a present key.
Load waits for the compactions after every flush, so it holds the work of making filters.
Lookups are timed on the database opened again, without counters; checks, reads avoided and rates come from passes of
their own, with the filters wrapped in counters.
FPR: false positives / checks, for absent keys between and beyond the present ones. It depends on the keys' shape, their
density (that of the whole database; a level or a table holds a part of the keys) and the number of keys per filter, as
stated here. The textbook's formula knows none of these.
Pebble's Get asks no filter in L6, and levelbloom's Configure makes none there: keys and bytes count tables with a filter.
`

func (r *Report) writeEngine(b *strings.Builder, e Engine) {
	byContestant := map[measure.Contestant][]measure.Run{}
	header := table.Row{fmt.Sprintf("%s %s", e.Name, e.Version)}
	for _, c := range e.Contestants {
		byContestant[c] = measure.Of(r.Runs, c)
		header = append(header, c.Name())
	}
	baseline := func(run measure.Run) (measure.Run, bool) {
		for _, base := range byContestant[measure.Contestant{Engine: run.Contestant.Engine, Filter: engine.None}] {
			if base.Round == run.Round {
				return base, true
			}
		}
		return measure.Run{}, false
	}

	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for i := range e.Contestants {
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, row := range r.rows(baseline) {
		cells, any := table.Row{row.label}, false
		for _, c := range e.Contestants {
			s := spreadOf(byContestant[c], row.figure)
			cell := ""
			if !math.IsNaN(s.median) {
				any = true
				cell = fmt.Sprintf(row.format, s.median)
				low, high := fmt.Sprintf(row.format, s.min), fmt.Sprintf(row.format, s.max)
				if low != high {
					cell += fmt.Sprintf(" [%s to %s]", low, high)
				}
			}
			cells = append(cells, cell)
		}
		if any {
			t.AppendRow(cells)
		}
	}
	b.WriteString(t.Render())
	fmt.Fprintf(b, "\nkey shape %s, density %s\n", r.setting(settingShape), r.setting(settingDensity))

	for _, c := range e.Contestants {
		fmt.Fprintf(b, "tables/bytes by level, %-18s %s\n", c.Name()+":", byContestant[c][0].Tables)
	}
	for _, warning := range r.warnings(e, byContestant) {
		fmt.Fprintf(b, "WARNING: %s\n", warning)
	}
	last := e.Contestants[len(e.Contestants)-1]
	once := last
	once.Again = false
	noise := func(figure func(measure.Run) float64) string {
		again := byContestant[last]
		i := -1
		s := spreadOf(byContestant[once], func(run measure.Run) float64 {
			i++
			return 100 * (ratio(figure(again[i]), figure(run)) - 1)
		})
		return fmt.Sprintf("%+.0f %% [%+.0f to %+.0f]", s.median, s.min, s.max)
	}
	fmt.Fprintf(b, "noise, %q against %q: load %s, miss %s, hit %s\n\n", last.Name(), once.Name(),
		noise(func(run measure.Run) float64 { return run.LoadPerSecond }),
		noise(func(run measure.Run) float64 { return run.Miss.PerSecond }),
		noise(func(run measure.Run) float64 { return run.Hit.PerSecond }))
}

// shapeTolerance is how much the bytes of a level may differ before the table says so.
const shapeTolerance = 0.10

// warnings returns what makes the figures of an engine doubtful.
func (r *Report) warnings(e Engine, runs map[measure.Contestant][]measure.Run) (all []string) {
	if r.BitsUsed.BuiltIn != r.BitsUsed.LevelBloom {
		all = append(all, fmt.Sprintf("the engine's own filter takes whole bits per key: builtin has %v, levelbloom %v", r.BitsUsed.BuiltIn, r.BitsUsed.LevelBloom))
	}
	reference := runs[e.Contestants[0]]
	for _, c := range e.Contestants {
		// Most warnings hold for every round, so each is given once, with its rounds.
		rounds := map[string][]string{}
		var texts []string
		warn := func(run measure.Run, format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if rounds[text] == nil {
				texts = append(texts, text)
			}
			rounds[text] = append(rounds[text], fmt.Sprint(run.Round))
		}
		for i, run := range runs[c] {
			if c.Filter != engine.None && run.Between.Checks == 0 {
				warn(run, "NO FILTER WAS EVER ASKED for absent keys between the present ones; the speed says nothing about filters")
			}
			if c.Filter != engine.None && run.Beyond.Checks == 0 {
				warn(run, "NO FILTER WAS EVER ASKED for absent keys beyond the present ones")
			}
			if difference := shapeDifference(reference[i].Tables, run.Tables); difference != "" {
				warn(run, "another tree than %s has (%s): not all of the difference in speed is the filter's", e.Contestants[0].Name(), difference)
			}
		}
		for _, text := range texts {
			all = append(all, fmt.Sprintf("%s, round %s: %s", c.Name(), strings.Join(rounds[text], ", "), text))
		}
	}
	return all
}

// shapeDifference says in which level two trees differ by more than shapeTolerance of the whole, or returns "".
func shapeDifference(a, b engine.Tables) string {
	var whole int64
	for _, l := range a.Levels {
		whole += l.Bytes
	}
	level := func(t engine.Tables, i int) engine.Level {
		if i < len(t.Levels) {
			return t.Levels[i]
		}
		return engine.Level{}
	}
	for i := range max(len(a.Levels), len(b.Levels)) {
		x, y := level(a, i), level(b, i)
		if math.Abs(float64(x.Bytes-y.Bytes)) > shapeTolerance*float64(whole) || (x.Tables == 0) != (y.Tables == 0) {
			return fmt.Sprintf("L%d has %d tables, %.1f MB against %d, %.1f MB", i, y.Tables, float64(y.Bytes)/1e6, x.Tables, float64(x.Bytes)/1e6)
		}
	}
	return ""
}

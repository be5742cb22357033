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

// rows returns the rows of an engine's table; baseline returns the run of the same round without a filter.
func (e Engine) rows(baseline func(measure.Run) (measure.Run, bool)) []row {
	withRatio := func(label string, perSecond func(measure.Run) float64) []row {
		return []row{
			{label, "%.0f", func(run measure.Run) float64 { return perSecond(run) / 1e3 }},
			{"  times no filter", "%.2f", func(run measure.Run) float64 {
				base, ok := baseline(run)
				if !ok {
					return math.NaN()
				}
				return ratio(perSecond(run), perSecond(base))
			}},
		}
	}
	latencies := func(pass func(measure.Run) measure.Pass) []row {
		return []row{
			{"  p50, µs", "%.1f", func(run measure.Run) float64 { return pass(run).P50.Seconds() * 1e6 }},
			{"  p99, µs", "%.1f", func(run measure.Run) float64 { return pass(run).P99.Seconds() * 1e6 }},
		}
	}
	load := func(run measure.Run) measure.Pass { return run.Load }
	rows := withRatio("load, thousand keys/s", func(run measure.Run) float64 { return load(run).PerSecond })
	rows = append(rows, latencies(load)...)
	for i, read := range e.Reads {
		for _, kind := range []struct {
			label string
			pass  func(measure.Lookups) measure.Pass
		}{
			{"miss, small cache", func(l measure.Lookups) measure.Pass { return l.SmallCache.Miss }},
			{"miss, large cache", func(l measure.Lookups) measure.Pass { return l.LargeCache.Miss }},
			{"hit, small cache", func(l measure.Lookups) measure.Pass { return l.SmallCache.Hit }},
			{"hit, large cache", func(l measure.Lookups) measure.Pass { return l.LargeCache.Hit }},
		} {
			pass := func(run measure.Run) measure.Pass { return kind.pass(run.Lookups[i]) }
			rows = append(rows, withRatio(fmt.Sprintf("%s %s, thousand/s", read, kind.label), func(run measure.Run) float64 { return pass(run).PerSecond })...)
			rows = append(rows, latencies(pass)...)
		}
		between := func(run measure.Run) measure.Answers { return run.Lookups[i].Between }
		beyond := func(run measure.Run) measure.Answers { return run.Lookups[i].Beyond }
		rows = append(rows,
			row{fmt.Sprintf("filter checks per %s miss", read), "%.2f", func(run measure.Run) float64 { return perLookup(between(run), between(run).Checks) }},
			row{"  of binary fuse filters, %", "%.0f", func(run measure.Run) float64 {
				if run.Contestant.Filter != engine.Fuse {
					return math.NaN()
				}
				return percentFuse(between(run))
			}},
			row{"  table reads avoided", "%.2f", func(run measure.Run) float64 { return perLookup(between(run), between(run).Avoided) }},
			row{"  blocks looked up, by the engine", "%.2f", func(run measure.Run) float64 {
				if between(run).BlockReads == 0 { // goleveldb does not count them
					return math.NaN()
				}
				return ratio(float64(between(run).BlockReads), float64(between(run).Lookups))
			}},
			row{"  FPR between, %", "%.2f", func(run measure.Run) float64 { return percentFPR(between(run)) }},
			row{"  FPR beyond, %", "%.2f", func(run measure.Run) float64 { return percentFPR(beyond(run)) }},
		)
	}
	return append(rows,
		row{"textbook's FPP, %", "%.2f", func(run measure.Run) float64 {
			if bits, ok := e.bitsOf(run.Contestant.Filter); ok {
				return 100 * textbookFPP(bits)
			}
			return math.NaN()
		}},
		row{"keys per filter (mean over keys)", "%.0f", func(run measure.Run) float64 {
			if run.Tables.Filters == 0 {
				return math.NaN()
			}
			return run.Tables.KeysPerFilter
		}},
		row{"filters", "%.0f", func(run measure.Run) float64 {
			if run.Contestant.Filter == engine.None {
				return math.NaN()
			}
			return float64(run.Tables.Filters)
		}},
		row{"filter bytes per key", "%.3f", func(run measure.Run) float64 {
			return ratio(float64(run.Tables.FilterBytes), float64(run.Tables.FilteredKeys))
		}},
		row{"filters in all, MB", "%.2f", func(run measure.Run) float64 {
			if run.Contestant.Filter == engine.None {
				return math.NaN()
			}
			return float64(run.Tables.FilterBytes) / 1e6
		}},
	)
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

func percentFuse(a measure.Answers) float64 { return 100 * ratio(float64(a.Fuse), float64(a.Checks)) }

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Machine)
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	b.WriteString("\n\n")
	for _, e := range r.Engines {
		r.writeEngine(&b, e)
	}
	fmt.Fprintf(&b, legend, float64(r.SmallCache)/1e6, float64(r.LargeCache)/1e6)
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `Median [min to max] over the rounds. A miss looks up an absent key that lies between the present ones, a hit a present key.
Small cache: a block cache of %.1f MB, a part of the data, after a tenth of the lookups. Large: %.1f MB, more than the data,
after all lookups were done once. The operating system's cache comes on top of both.
Load waits for the compactions after every flush, so it holds the work of making filters; its latencies do not.
Lookups are timed on the database opened again, without counters; checks, reads avoided and rates come from passes of
their own, with the filters wrapped in counters. Where the engine counts checks itself (Pebble), it was found to agree.
Blocks looked up are Pebble's own count: in its block cache, found there or not, those of indexes and filters too.
FPR: false positives / checks, for absent keys between and beyond the present ones. It depends on the keys' shape, their
density (that of the whole database; a level or a table holds a part of the keys) and the number of keys per filter, as
stated here. The textbook's formula knows none of these. Keys of the shapes random and uuid have no order: there the two
rates are two samples of the same. Each absent key is counted once.
Pebble's Get asks no filter in L6, and levelbloom's Configure makes none there. Keys and bytes count tables with a filter;
in goleveldb the bytes include the 4 of each window's offset.
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
	for _, row := range e.rows(baseline) {
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
		last := ""
		for _, run := range byContestant[c] {
			if shape := run.Tables.String(); shape != last { // most often it is the same in all rounds
				fmt.Fprintf(b, "tables/bytes by level, %-18s %s\n", c.Name()+":", shape)
				last = shape
			}
		}
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
		noise(func(run measure.Run) float64 { return run.Load.PerSecond }),
		noise(func(run measure.Run) float64 { return run.Lookups[0].SmallCache.Miss.PerSecond }),
		noise(func(run measure.Run) float64 { return run.Lookups[0].SmallCache.Hit.PerSecond }))
}

package levelbench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/report"
)

// A Report is the outcome with what it depends on.
type Report struct {
	Machine  report.Machine
	Settings []report.Setting
	Version  string // of Pebble
	Plans    []Plan // the contestants
	Split    int    // the level from which on the second encoding of a plan is
	Outcome
}

// WriteText writes a table of the plans, one of their levels, and what the trees look like.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Machine)
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	fmt.Fprintf(&b, "\npebblev2 %s\n\n", r.Version)
	r.writePlans(&b)
	r.writeLevels(&b)
	r.writeTrees(&b)
	r.writePrice(&b)
	for _, warning := range r.warnings() {
		fmt.Fprintf(&b, "WARNING: %s\n", warning)
	}
	c := r.Counts
	fmt.Fprintf(&b, legend, c[miss], c[hit], c[overwrite], c[insert], r.Plans[0].Name, r.Split-1, r.Split, engine.NumLevels-1)
	for _, e := range Encodings {
		fmt.Fprintf(&b, "  %-10s %s\n", e.Name, e.Description)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `
Each run loads a new database and then does, in one goroutine and in random order, %d lookups of absent keys that lie between
the present ones (misses), %d of keys that were loaded (hits), and stores %d of the loaded keys again and %d new ones, while
Pebble flushes and compacts. Median [min to max] over the rounds. Ratios are to %[5]s in the same round. It runs twice: what "%[5]s
again" differs from 1 is noise.
  operations/s: until the last one is done. CPU: of the process, until the compactions are done too; making: the part of it that
  went into making filters of their keys' hashes. FPR: false positives / checks, of misses. built per write: keys in new filters
  / keys stored. bytes per key on disk: at the end, in tables with filters.
Levels: what the filters did that were made for a level. Pebble may move a table down as it is, with its filter. Only what the
operations made is counted, not what the load made. Medians over the rounds.
  written as: the encodings that the builder chose, by the part of the keys. making: median over the filters. checks per key
  built: how often the level's filters were asked / keys in those that were made meanwhile. The more lookups there are for each
  write, the higher it is.
  pays: how long it must take to read a table in vain for the level's encoding to gain more time, by having fewer false positives,
  than it costs, by being slower to make than %[5]s's: extra time per key / (difference of the FPR * checks per key built whose
  answer should be "absent"). "up to": the other way round, it is quicker to make and has more of them. Memory is not in it.
Plans: an encoding for all levels, or one for L0 to L%[6]d and, behind the slash, one for L%[7]d to L%[8]d.
`

func newTable(header table.Row, left ...int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for i := range header {
		if !slices.Contains(left, i+1) {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(columns)
	return t
}

func (r *Report) writePlans(b *strings.Builder) {
	base := r.Plans[0].Name
	t := newTable(table.Row{"plan", "thousand\noperations/s", "ratio", "CPU, µs/\noperation", "ratio", "making,\n% of CPU", "lookup, µs:\np50", "\np99", "checks\nper miss", "FPR, %",
		"built\nper write", "bytes per key\non disk"}, 1)
	for _, p := range r.Plans {
		speed := func(name string) figures { return r.of(name, r.perSecond) }
		cpu := func(name string) figures { return r.of(name, r.cpu) }
		t.AppendRow(table.Row{
			p.Name,
			speed(p.Name).format("%.1f"), speed(p.Name).against(speed(base)).spread("%.2f"),
			cpu(p.Name).format("%.2f"), cpu(p.Name).against(cpu(base)).spread("%.2f"),
			r.of(p.Name, makingPart).format("%.2f"),
			r.of(p.Name, func(run Run) float64 { return run.Lookup.P50.Seconds() * 1e6 }).format("%.1f"),
			r.of(p.Name, func(run Run) float64 { return run.Lookup.P99.Seconds() * 1e6 }).format("%.1f"),
			r.of(p.Name, func(run Run) float64 { return positive(float64(run.all().Absent.Checks)) / float64(r.Counts[miss]) }).format("%.2f"),
			r.of(p.Name, func(run Run) float64 { return 100 * run.all().fpr() }).format("%.3f"),
			r.of(p.Name, func(run Run) float64 { return positive(float64(run.all().Built.Keys)) / float64(r.Counts.Writes()) }).format("%.2f"),
			r.of(p.Name, func(run Run) float64 { return float64(run.Tables.FilterBytes) / float64(run.Tables.FilteredKeys) }).format("%.3f"),
		})
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

func (r *Report) perSecond(run Run) float64 {
	return float64(r.operations()) / run.Time.Seconds() / 1e3
}

// cpu returns the microseconds per operation.
func (r *Report) cpu(run Run) float64 {
	return positive(run.CPU.Seconds()) * 1e6 / float64(r.operations())
}

func (r *Report) operations() int { return r.Counts.Lookups() + r.Counts.Writes() }

// positive returns NaN instead of 0, where that means that something is not there.
func positive(x float64) float64 {
	if x == 0 {
		return math.NaN()
	}
	return x
}

// makingPart returns which per cent of the CPU time it took to make filters. Times are those of a clock, and some filters were
// made while others had the processor, so each level's median stands for all.
func makingPart(run Run) float64 {
	var nanoseconds float64
	for _, l := range run.Levels {
		if l.Built.Keys > 0 {
			nanoseconds += l.making() * float64(l.Built.Keys)
		}
	}
	return 100 * positive(nanoseconds) / 1e9 / positive(run.CPU.Seconds())
}

// writeTrees writes where the tables lay at the end of the last round.
func (r *Report) writeTrees(b *strings.Builder) {
	for _, p := range r.Plans {
		i := len(r.Runs) - 1
		for r.Runs[i].Plan != p.Name {
			i--
		}
		fmt.Fprintf(b, "tables/bytes by level in the last round, %-16s %s, %d tables moved\n", p.Name+":", r.Runs[i].Tables, r.Runs[i].Moved)
	}
}

// writePrice writes what reading tables in vain costs here, if there is a plan without filters.
func (r *Report) writePrice(b *strings.Builder) {
	base := r.Plans[0].Name
	if !slices.ContainsFunc(r.Plans, func(p Plan) bool { return p.Name == none }) || base == none {
		return
	}
	avoided := r.of(base, func(run Run) float64 {
		return float64(run.all().Absent.Avoided+run.all().Present.Avoided) / float64(r.operations())
	})
	for _, cost := range []struct {
		name   string
		figure func(Run) float64
	}{
		{"time", func(run Run) float64 { return 1e3 / r.perSecond(run) }},
		{"CPU time", r.cpu},
	} {
		more := r.of(none, cost.figure)
		for i, x := range r.of(base, cost.figure) {
			more[i] = (more[i] - x) / avoided[i]
		}
		if s := more.spread("%.1f"); s != "" {
			fmt.Fprintf(b, "a read that %s's filters avoid saves, in µs of %s: %s\n", base, cost.name, s)
		}
	}
}

// warnings returns what makes the figures doubtful.
func (r *Report) warnings() (all []string) {
	for _, p := range r.Plans {
		if !slices.ContainsFunc(p.Levels[:lastLevel], func(e Encoding) bool { return e.Name != none }) {
			continue
		}
		if slices.Min(r.of(p.Name, func(run Run) float64 { return float64(run.all().Absent.Checks) })) == 0 {
			all = append(all, p.Name+": NO FILTER WAS EVER ASKED; the figures say nothing about filters: pass more keys or more operations")
		}
	}
	return all
}

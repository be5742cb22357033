package filterbench

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/montanaflynn/stats"

	"github.com/levelbloom/levelbloom/bench/report"
)

// A Report is the outcome with what it depends on.
type Report struct {
	Machine     report.Machine
	Settings    []report.Setting
	Contestants []string // in the order to show: the base of the ratios, its second turn, the others
	Versions    []string // of the implementations
	Results     []Result
}

// WriteText writes the ratios for people, a table for each kind of work.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Machine)
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	fmt.Fprintf(&b, "\n%s\n\n", strings.Join(r.Versions, ", "))
	for _, work := range Works {
		r.writeWork(&b, work)
	}
	fmt.Fprintf(&b, legend, r.Contestants[0], r.Contestants[1], numQueries, manyBytes>>20, keysAtOnce)
	_, err := io.WriteString(w, b.String())
	return err
}

const legend = `Ratios: the contestant's time per key / that of %[1]s in the same round; above 1, %[1]s is faster. Median [quartiles]
of the rounds. %[2]q is the same code again: what its ratio differs from 1 is noise.
lookup: %[3]d keys in random order, in one filter; absent ones all different, present ones as far as there are so many. All
are asked once before the clock starts, and every answer is counted. many: the same in %[4]d MiB of filters, a random one for each
key, and another one in each pass. batch: %[5]d keys in a call for those who can, one after the other for the rest. build: adding
keys and making a filter, in memory that was used before.
Engines' own filters are called through the interface that their engine calls: goleveldb's with one generator for all filters,
Pebble's with a writer for each. levelbloom's policies are called through policy.Policy, with one builder; what an adapter adds
shows in the contestants NAME/ENGINE, which compare with that engine's own. C++ LevelDB runs in a process of its own, by its own
clock; its library is as its distributor compiled it, and it gets an array of all keys to build a filter.
Contestants with the same encoding have given the same answers, and have made the same bytes where they built filters.
`

func (r *Report) writeWork(b *strings.Builder, work Work) {
	base := r.Contestants[0]
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{string(work), "keys", "bytes", base + ", ns"}
	columns := []table.ColumnConfig{right(2), right(3), right(4)}
	for i, name := range r.Contestants[1:] {
		header = append(header, name)
		columns = append(columns, right(5+i))
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for _, result := range r.Results {
		if result.Work != work {
			continue
		}
		row := table.Row{string(result.Mix), FormatN(result.N), FormatLength(result.Length), fmt.Sprintf("%.1f", median(result.Times[base]))}
		for _, name := range r.Contestants[1:] {
			row = append(row, ratioOf(result.Times[name], result.Times[base]))
		}
		t.AppendRow(row)
	}
	if t.Length() > 0 {
		fmt.Fprintf(b, "%s\n\n", t.Render())
	}
}

func right(column int) table.ColumnConfig {
	return table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight}
}

// ratioOf writes the ratios of two contestants' times, round by round.
func ratioOf(times, base []float64) string {
	ratios := make(stats.Float64Data, len(times))
	for i := range times {
		ratios[i] = times[i] / base[i]
	}
	return fmt.Sprintf("%.2f [%.2f to %.2f]", median(ratios), quantile(ratios, 25), quantile(ratios, 75))
}

func median(values stats.Float64Data) float64 {
	m, err := values.Median()
	if err != nil {
		panic(err) // there is at least one round
	}
	return m
}

func quantile(values stats.Float64Data, percent float64) float64 {
	q, err := values.PercentileNearestRank(percent)
	if err != nil {
		panic(err) // there is at least one round
	}
	return q
}

// WriteBenchstat writes every turn as a line of Go's benchmark format, which benchstat reads: benchstat -col /impl FILE. An op is
// a key.
func (r *Report) WriteBenchstat(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/levelbloom/levelbloom/bench\ncpu: %s\n", r.Machine.OS, r.Machine.Arch, r.Machine.CPU)
	for _, result := range r.Results {
		name := fmt.Sprintf("work=%s/len=%s/n=%s", result.Work, FormatLength(result.Length), FormatN(result.N))
		if result.Mix != "" {
			name += "/keys=" + string(result.Mix)
		}
		for _, contestant := range r.Contestants {
			impl := strings.NewReplacer(" ", "_", "/", "+").Replace(contestant) // both would end the value
			for _, ns := range result.Times[contestant] {
				fmt.Fprintf(&b, "BenchmarkFilter/%s/impl=%s-%d\t1\t%.3f ns/op\n", name, impl, r.Machine.GoMaxProcs, ns)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

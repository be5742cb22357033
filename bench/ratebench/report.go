package ratebench

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/montanaflynn/stats"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/report"
)

// A Report is the outcome with what it depends on.
type Report struct {
	Settings  []report.Setting
	Encodings []Encoding
	Shapes    []Shape
	Densities []Density
	Results   []Result
	LeftOut   int // cells
}

// WriteText writes a table for each number of bits per key, and what becomes of the bounds.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	b.WriteString("\n\n")
	var bits []float64
	for _, result := range r.Results {
		if !slices.Contains(bits, result.Bits) {
			bits = append(bits, result.Bits)
		}
	}
	for _, bitsPerKey := range bits {
		r.writeTable(&b, bitsPerKey)
	}
	r.writeLegend(&b)
	for i, e := range r.Encodings {
		if e.Bounds != nil {
			r.writeVerdicts(&b, i)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeTable(b *strings.Builder, bits float64) {
	byN := map[int][]Result{}
	var ns []int
	for _, result := range r.Results {
		if result.Bits != bits {
			continue
		}
		if byN[result.N] == nil {
			ns = append(ns, result.N)
		}
		byN[result.N] = append(byN[result.N], result)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{fmt.Sprintf("%v bits, keys", bits)}
	var columns []table.ColumnConfig
	for _, e := range r.Encodings {
		if e.Bounds != nil {
			header = append(header, "bound")
		}
		header = append(header, e.Name+", bits", "mean", "median")
		for len(columns) < len(header) {
			columns = append(columns, table.ColumnConfig{Number: len(columns) + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		header = append(header, "worst cell")
		columns = append(columns, table.ColumnConfig{Number: len(header)})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for _, n := range ns {
		row := table.Row{filterbench.FormatN(n)}
		for i, e := range r.Encodings {
			if e.Bounds != nil {
				row = append(row, r.formatLimits(i, byN[n][0].Cell))
			}
			row = append(row, summary(byN[n], i)...)
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

// formatLimits writes the lowest limit.
func (r *Report) formatLimits(encoding int, cell Cell) string {
	limits := r.limits(encoding, cell)
	if len(limits) == 0 {
		return "-"
	}
	return percent(slices.MinFunc(limits, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) }).rate)
}

// summary returns the columns of an encoding. There is at least one result, and all are of the same number of keys.
func summary(results []Result, encoding int) table.Row {
	var means stats.Float64Data
	var squares float64
	for _, result := range results {
		rate := result.Rates[encoding]
		means = append(means, rate.Mean())
		squares += rate.Error() * rate.Error()
	}
	mean, _ := means.Mean()
	median, _ := means.Median()
	worst := slices.MaxFunc(results, func(a, b Result) int { return cmp.Compare(a.Rates[encoding].Mean(), b.Rates[encoding].Mean()) })
	return table.Row{
		fmt.Sprintf("%.2f", bitsPerKey(worst, encoding)),
		plusMinus(mean, math.Sqrt(squares)/float64(len(results))),
		percent(median),
		fmt.Sprintf("%s %s", plusMinus(worst.Rates[encoding].Mean(), worst.Rates[encoding].Error()), worst.keys()),
	}
}

func bitsPerKey(r Result, encoding int) float64 { return 8 * float64(r.Sizes[encoding]) / float64(r.N) }

func percent(rate float64) string { return fmt.Sprintf("%.4f", 100*rate) }

func plusMinus(rate, err float64) string { return percent(rate) + " ±" + percent(err) }

func (r *Report) writeLegend(b *strings.Builder) {
	b.WriteString(`False-positive rates in per cent: of absent keys, asked of filters of so many keys. A cell is a shape of keys, with a density, at
that number of keys and bits per key. Its rate is the mean over its filters, which hold keys of different ranges or, where the
shape has none, other random ones. ± is one standard error: the larger one of that from the variance between the filters
and that of as many independent answers. mean, median: of the cells of a row. worst cell: that with the highest rate, in
which chance has its part. bits: the filter's length per key, with all that belongs to it. All encodings have the same keys.
bound: what the rate may be at most, by promise or, up to 500 keys, as the exact encoding's with random keys in this table.
`)
	for _, e := range r.Encodings {
		fmt.Fprintf(b, "  %-12s %s\n", e.Name, e.Description)
	}
	b.WriteString("Shapes: the key of an index\n")
	for _, s := range r.Shapes {
		fmt.Fprintf(b, "  %-12s %s\n", s.Name, s.Description)
	}
	b.WriteString("Densities: which indexes are present (of random and uuid keys it makes no difference)\n")
	for _, d := range r.Densities {
		fmt.Fprintf(b, "  %-12s %s\n", d.Name, d.Description)
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(b, "%s left out, whose shape has not so many keys.\n", count(r.LeftOut, "cell is", "cells are"))
	}
	b.WriteString("\n")
}

const nearest = 10 // verdicts that are shown though they break nothing

func (r *Report) writeVerdicts(b *strings.Builder, encoding int) {
	name := r.Encodings[encoding].Name
	all, unlimited := r.verdicts(encoding)
	if unlimited > 0 {
		fmt.Fprintf(b, "%s: no bound is known for %s.\n", name, count(unlimited, "cell", "cells"))
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(x, y verdict) int { return cmp.Compare(y.excess(), x.excess()) })
	broken := slices.IndexFunc(all, func(v verdict) bool { return !v.broken() })
	if broken < 0 {
		broken = len(all)
	}
	above := slices.IndexFunc(all, func(v verdict) bool { return v.excess() <= 0 })
	if above < 0 {
		above = len(all)
	}
	if broken == 0 {
		fmt.Fprintf(b, "%s: all %s are within the bounds.\n", name, count(len(all), "rate", "rates"))
	} else {
		fmt.Fprintf(b, "%s: BOUNDS ARE BROKEN by %d of %s:\n", name, broken, count(len(all), "rate", "rates"))
		writeList(b, all[:broken])
	}
	if broken < above {
		fmt.Fprintf(b, "%s: %s above the bound by at most %d standard errors, as chance may do; the furthest:\n", name, count(above-broken, "rate is", "rates are"), tolerance)
		writeList(b, all[broken:min(above, broken+nearest)])
	}
	vague := slices.MaxFunc(all, func(x, y verdict) int { return cmp.Compare(x.vagueness(), y.vagueness()) })
	fmt.Fprintf(b, "%s: the largest standard error is %.1f %% of the bound: %v.\n", name, 100*vague.vagueness(), vague.result.Cell)
}

// vagueness is the standard error as a part of the limit.
func (v verdict) vagueness() float64 { return math.Hypot(v.rate.Error(), v.limit.error) / v.limit.rate }

func writeList(b *strings.Builder, verdicts []verdict) {
	for _, v := range verdicts {
		limit := percent(v.limit.rate)
		if v.limit.error > 0 {
			limit = plusMinus(v.limit.rate, v.limit.error)
		}
		fmt.Fprintf(b, "  %v: %s, bound %s, %.1f standard errors\n", v.result.Cell, plusMinus(v.rate.Mean(), v.rate.Error()), limit, v.excess())
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// WriteCSV writes every cell, a line for each encoding.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"encoding", "shape", "density", "n", "bits", "filters", "queries", "false_positives", "fpr", "std_error", "filter_bytes", "bound"}
	for _, s := range r.Settings {
		header = append(header, "setting_"+s.Name)
	}
	out.Write(header) // Flush keeps the first error for Error
	for _, result := range r.Results {
		for i, e := range r.Encodings {
			rate, bound := result.Rates[i], ""
			if limits := r.limits(i, result.Cell); len(limits) > 0 {
				bound = float(slices.MinFunc(limits, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) }).rate)
			}
			record := []string{
				e.Name, result.Shape.Name, result.Density.Name, strconv.Itoa(result.N), float(result.Bits), strconv.Itoa(rate.Filters), strconv.Itoa(rate.Queries),
				strconv.Itoa(rate.FalsePositives), float(rate.Mean()), float(rate.Error()), strconv.Itoa(result.Sizes[i]), bound,
			}
			for _, s := range r.Settings {
				record = append(record, s.Value)
			}
			out.Write(record)
		}
	}
	out.Flush()
	return out.Error()
}

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

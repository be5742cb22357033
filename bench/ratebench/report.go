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
	"github.com/levelbloom/levelbloom/bench/kind"
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
	for _, rows := range groups(r.rows(), func(row row) float64 { return row[0].Bits }) {
		r.writeTable(&b, rows)
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

// A row holds the results of all shapes and densities, at least one, for a number of keys and bits per key.
type row []Result

func (r *Report) rows() (rows []row) {
	type key struct {
		n    int
		bits float64
	}
	for _, results := range groups(r.Results, func(result Result) key { return key{result.N, result.Bits} }) {
		rows = append(rows, results)
	}
	return rows
}

// kinds returns the kinds of an encoding's filters.
func (w row) kinds(encoding int) (kinds []kind.Kind) {
	for _, same := range groups(w, func(result Result) kind.Kind { return result.Kinds[encoding] }) {
		kinds = append(kinds, same[0].Kinds[encoding])
	}
	return kinds
}

// groups returns the elements that have the same key together, in the order of the first ones.
func groups[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	index := map[K]int{}
	for _, x := range all {
		i, ok := index[key(x)]
		if !ok {
			i = len(groups)
			index[key(x)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}

// writeTable writes rows of the same bits per key.
func (r *Report) writeTable(b *strings.Builder, rows []row) {
	t := newTable()
	header := table.Row{fmt.Sprintf("%v bits, keys", rows[0][0].Bits)}
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
	for _, row := range rows {
		line := table.Row{filterbench.FormatN(row[0].N)}
		for i, e := range r.Encodings {
			if e.Bounds != nil {
				line = append(line, r.formatLimits(i, row[0]))
			}
			line = append(line, r.summary(row, i)...)
		}
		t.AppendRow(line)
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

// formatLimits writes the lowest limit.
func (r *Report) formatLimits(encoding int, result Result) string {
	if l, ok := r.lowest(encoding, result); ok {
		return percent(l.rate)
	}
	return "-"
}

// lowest returns the lowest limit of a cell, if there is one.
func (r *Report) lowest(encoding int, result Result) (l limit, ok bool) {
	limits := r.limits(encoding, result)
	if len(limits) == 0 {
		return l, false
	}
	return slices.MinFunc(limits, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) }), true
}

// summary returns the columns of an encoding.
func (r *Report) summary(row row, encoding int) table.Row {
	var means stats.Float64Data
	var squares float64
	for _, result := range row {
		rate := result.Rates[encoding]
		means = append(means, rate.Mean())
		squares += rate.Error() * rate.Error()
	}
	mean, _ := means.Mean()
	median, _ := means.Median()
	worst := slices.MaxFunc(row, func(a, b Result) int { return cmp.Compare(a.Rates[encoding].Mean(), b.Rates[encoding].Mean()) })
	size := fmt.Sprintf("%.2f", bitsPerKey(worst, encoding))
	if written := join(row.kinds(encoding)); written != r.Encodings[encoding].Name {
		size += " as " + written
	}
	return table.Row{
		size,
		plusMinus(mean, math.Sqrt(squares)/float64(len(row))),
		percent(median),
		fmt.Sprintf("%s %s", plusMinus(worst.Rates[encoding].Mean(), worst.Rates[encoding].Error()), worst.keys()),
	}
}

func join(kinds []kind.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

func bitsPerKey(r Result, encoding int) float64 { return 8 * float64(r.Sizes[encoding]) / float64(r.N) }

// decimals returns how many of them a rate in per cent is written with.
func decimals(rate float64) int {
	if rate > 0 && rate < 0.0001 {
		return 6
	}
	return 4
}

func percent(rate float64) string { return fmt.Sprintf("%.*f", decimals(rate), 100*rate) }

func plusMinus(rate, err float64) string {
	return fmt.Sprintf("%s ±%.*f", percent(rate), decimals(rate), 100*err)
}

func (r *Report) writeLegend(b *strings.Builder) {
	b.WriteString(`False-positive rates in per cent: of absent keys, asked of filters of so many keys. A cell is a shape of keys, with a density, at
that number of keys and bits per key. Its rate is the mean over its filters, which hold keys of different ranges or, where the
shape has none, other random ones. ± is one standard error: the larger one of that from the variance between the filters
and that of as many independent answers. mean, median: of the cells of a row. worst cell: that with the highest rate, in
which chance has its part. bits: the filter's length per key, with all that belongs to it. All encodings and bits per key have
the same keys.
bound: what the rate may be at most, by promise or, up to 500 keys and 1280 bytes, as the exact encoding's with random keys;
of binary fuse filters ("as fuse" with the bits of a fingerprint) what it is to be, no less and no more, in each cell, and in all
cells of a row together.
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

// How many verdicts are shown though they break nothing.
const (
	nearest    = 10 // of rates above their limits
	nearestOff = 3  // of rates off them, as all are a little
)

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
	if broken := those(all, verdict.broken); len(broken) > 0 {
		fmt.Fprintf(b, "%s: BOUNDS ARE BROKEN by %d of %s:\n", name, len(broken), count(len(all), "rate", "rates"))
		writeList(b, broken)
	} else {
		fmt.Fprintf(b, "%s: all %s are within the bounds.\n", name, count(len(all), "rate", "rates"))
	}
	for _, same := range groups(all, verdict.exactly) {
		if rate := same[0].exactly(); rate > 0 {
			writeOff(b, name, rate, same)
		} else {
			writeAbove(b, name, same)
		}
	}
}

// those returns the elements that are so.
func those[T any](all []T, so func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !so(x) })
}

// writeAbove writes how near rates are to limits that they are not to be above.
func writeAbove(b *strings.Builder, name string, all []verdict) {
	above := those(all, func(v verdict) bool { return !v.broken() && v.excess() > 0 })
	if len(above) > 0 {
		fmt.Fprintf(b, "%s: %s above the bound by at most %v standard errors, as chance may do; the furthest:\n", name, count(len(above), "rate is", "rates are"), above[0].tolerance())
		writeList(b, above[:min(len(above), nearest)])
	}
	vague := slices.MaxFunc(all, byVagueness)
	fmt.Fprintf(b, "%s: the largest standard error is %.1f %% of the bound: %v.\n", name, 100*vague.vagueness(), vague.of)
}

// writeOff writes how far off the limit rates are that are to be it.
func writeOff(b *strings.Builder, name string, limit float64, all []verdict) {
	within := those(all, func(v verdict) bool { return !v.broken() })
	if len(within) > 0 {
		fmt.Fprintf(b, "%s: %s %s give or take at most %v standard errors, as chance may do; the furthest:\n", name, count(len(within), "rate is", "rates are"), percent(limit), within[0].tolerance())
		writeList(b, within[:min(len(within), nearestOff)])
	}
	least, most := slices.MinFunc(all, byVagueness), slices.MaxFunc(all, byVagueness)
	fmt.Fprintf(b, "%s: the standard error is from %.1f %% of %s (%v) to %.1f %% (%v).\n", name, 100*least.vagueness(), percent(limit), least.of, 100*most.vagueness(), most.of)
}

func byVagueness(x, y verdict) int { return cmp.Compare(x.vagueness(), y.vagueness()) }

func writeList(b *strings.Builder, verdicts []verdict) {
	for _, v := range verdicts {
		limit, err := percent(v.limit.rate), v.rate.Error()
		if v.limit.error > 0 {
			limit = plusMinus(v.limit.rate, v.limit.error)
		}
		if v.limit.both {
			err = v.error()
		}
		fmt.Fprintf(b, "  %v: %s, bound %s, %.1f standard errors\n", v.of, plusMinus(v.rate.Mean(), err), limit, v.excess())
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
	header := []string{"encoding", "shape", "density", "n", "bits", "filters", "queries", "false_positives", "fpr", "std_error", "filter_bytes", "written", "bound"}
	for _, s := range r.Settings {
		header = append(header, "setting_"+s.Name)
	}
	out.Write(header) // Flush keeps the first error for Error
	for _, result := range r.Results {
		for i, e := range r.Encodings {
			rate, bound := result.Rates[i], ""
			if l, ok := r.lowest(i, result); ok {
				bound = float(l.rate)
			}
			record := []string{
				e.Name, result.Shape.Name, result.Density.Name, strconv.Itoa(result.N), float(result.Bits), strconv.Itoa(rate.Filters), strconv.Itoa(rate.Queries),
				strconv.Itoa(rate.FalsePositives), float(rate.Mean()), float(rate.Error()), strconv.Itoa(result.Sizes[i]), result.Kinds[i].String(), bound,
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

package ratebench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/bench/report"
)

// A CrossingReport shows choices.
type CrossingReport struct {
	Settings []report.Setting
	Choices  []Choice // by number of keys, in ascending order of bits
}

// WriteText writes a table for each number of keys, one of where the choice should turn, and where it is wrong.
func (r *CrossingReport) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "-%s=%s ", s.Name, s.Value)
	}
	b.WriteString("\n\n")
	byN := groups(r.Choices, func(c Choice) int { return c.N })
	for _, choices := range byN {
		writeChoices(&b, choices)
	}
	writeCrossings(&b, byN)
	b.WriteString(crossingLegend)
	r.writeLosses(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

const crossingLegend = `False-positive rates in per cent. blocked: measured, of random keys, with one standard error. fits: the longest fingerprints that
fit into so many bits per key; their rate is 2^-bits (` + "`bench rates`" + ` measures whether it is). ratio: of the two; above 1 binary fuse has
fewer false positives. fewer: which one has, by more than 3 standard errors. written: what the builder of binary fuse filters
took. Of rows in which only the rates differ the first and the last are shown. The last table has where the ratio is 1, between
two settings that were measured; - if it is nowhere, because longer fingerprints fit before, or because of the settings.
`

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

func rightAligned(n int) (columns []table.ColumnConfig) {
	for i := range n {
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return columns
}

// writeChoices writes those of one number of keys.
func writeChoices(b *strings.Builder, choices []Choice) {
	t := newTable()
	t.AppendHeader(table.Row{filterbench.FormatN(choices[0].N) + " keys, bits", "blocked, bits", "blocked", "fits", "its rate", "ratio", "fewer", "written", ""})
	t.SetColumnConfigs(rightAligned(6))
	same := func(x, y Choice) bool {
		return x.Width == y.Width && x.fewer() == y.fewer() && x.Written == y.Written
	}
	for i, c := range choices {
		if i > 0 && i+1 < len(choices) && same(choices[i-1], c) && same(c, choices[i+1]) {
			continue
		}
		fits, rate, ratio, wrong := "-", "", "", ""
		if c.Width > 0 {
			r, err := c.ratio()
			fits, rate, ratio = fmt.Sprint(c.Width), percent(c.fuse()), fmt.Sprintf("%.2f ±%.2f", r, err)
		}
		if c.loss() > 0 {
			wrong = fmt.Sprintf("WRONG by %.0f %%", 100*c.loss())
		}
		size := fmt.Sprintf("%.2f", 8*float64(c.Size)/float64(c.N))
		t.AppendRow(table.Row{c.Bits, size, plusMinus(c.Blocked.Mean(), c.Blocked.Error()), fits, rate, ratio, c.fewer(), c.Written, wrong})
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

// writeCrossings writes where the choice should turn, by number of keys and width.
func writeCrossings(b *strings.Builder, byN [][]Choice) {
	t := newTable()
	header := table.Row{"blocked has fewer from so many bits on than"}
	for _, choices := range byN {
		header = append(header, filterbench.FormatN(choices[0].N))
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(rightAligned(len(header))[1:])
	for _, w := range slices.Backward(widths) {
		row := table.Row{kind.Kind{Encoding: kind.Fuse, Width: w}}
		for _, choices := range byN {
			at := "-"
			if bits, ok := crossing(choices, w); ok {
				at = fmt.Sprintf("%.2f", bits)
			}
			row = append(row, at)
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

// writeLosses writes how often the builder took the worse one, and where it costs most.
func (r *CrossingReport) writeLosses(b *strings.Builder) {
	losses := those(r.Choices, func(c Choice) bool { return c.loss() > 0 })
	equals := those(r.Choices, func(c Choice) bool { return c.fewer() == equal })
	fmt.Fprintf(b, "\nOf %s the builder made %d well; in %d both rates are equal as far as is known, and %s WRONG",
		count(len(r.Choices), "choice", "choices"), len(r.Choices)-len(losses)-len(equals), len(equals), count(len(losses), "is", "are"))
	if len(losses) == 0 {
		b.WriteString(".\n")
		return
	}
	b.WriteString(", those that cost most:\n")
	slices.SortStableFunc(losses, func(x, y Choice) int { return cmp.Compare(y.loss(), x.loss()) })
	for _, c := range losses[:min(len(losses), nearest)] {
		fmt.Fprintf(b, "  %s keys, %v bits per key: %v, where %v has fewer; %.0f %% more false positives\n", filterbench.FormatN(c.N), c.Bits, c.Written, c.fewer(), 100*c.loss())
	}
}

package curvebench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Report fills in the records, the tables, the picture and the notes.
func (c *Config) Report(r *report.Report, records []Record) {
	r.Records = records
	r.WriteSVG = func(w io.Writer) error { return Draw(records, r.Incomplete == nil, w) }
	for _, v := range Views {
		if curves := byKind(records, v); len(curves) > 0 {
			r.Tables = append(r.Tables, table(v, curves))
		}
	}
	r.Notes = append(r.Notes, "A rate is the mean of the runs, each with other keys, and their "+
		"standard deviation. Predictions are of well-mixed keys; dense numbers have more false "+
		"positives in exact filters. The textbook's rate is (1 - e^(-kn/m))^k.")
	if static := c.static(); slices.Contains(c.Views, Fill) && len(static) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Not measured against fill: %s. Each filter is made "+
			"for the keys that it is built of, and has no room for more.",
			strings.Join(static, ", ")))
	}
}

// table has a row for each point, and for each kind what was measured and what was computed.
func table(v View, curves []curve) report.Table {
	first := curves[0][0]
	t := report.Table{Keys: 1}
	switch v {
	case Fill:
		t.Title = fmt.Sprintf("against fill, sized for %s at %v bits per key",
			keys.CountN(first.Capacity), first.Bits)
		t.Columns = []string{"keys / capacity"}
	case Bits:
		t.Title = fmt.Sprintf("against bits per key, %s per filter", keys.CountN(first.N))
		t.Columns = []string{"bits per key"}
	case Keys:
		t.Title = fmt.Sprintf("against keys per filter, %v bits per key", first.Bits)
		t.Columns = []string{"keys per filter"}
	}
	t.Title = "False-positive rates in % " + t.Title
	t.Columns = append(t.Columns, first.Kind+", textbook")
	for _, c := range curves {
		t.Columns = append(t.Columns, c[0].Kind, c[0].Kind+", predicted")
	}
	for i, r := range curves[0] {
		row := []any{fmt.Sprintf("%.4g", r.x()), percent(r.Textbook)}
		if v == Keys {
			row[0] = keys.FormatN(r.N)
		}
		for _, c := range curves {
			row = append(row, percent(c[i].Mean)+" ± "+percent(c[i].Deviation),
				percent(c[i].Predicted))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// percent writes a rate in per cent, without the sign.
func percent(rate float64) string { return fmt.Sprintf("%.3g", 100*rate) }

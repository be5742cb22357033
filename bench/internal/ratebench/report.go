package ratebench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is one kind in one cell.
type Record struct {
	Kind           string  `json:"kind"`            // kind of filter
	Shape          string  `json:"shape"`           // shape of the keys
	Density        string  `json:"density"`         // which keys of a range are present
	N              int     `json:"n"`               // keys per filter
	Bits           float64 `json:"bits"`            // bits per key, as configured
	FilterBytes    float64 `json:"filter_bytes"`    // bytes of a filter, a mean
	Filters        int     `json:"filters"`         // filters built
	Queries        int     `json:"queries"`         // absent keys looked up
	FalsePositives int     `json:"false_positives"` // absent keys that a filter may contain
	FPR            float64 `json:"fpr"`             // false positives per query, 0 to 1
	Low            float64 `json:"fpr_low"`         // lower end of the interval of 95 % (Wilson)
	High           float64 `json:"fpr_high"`        // upper end of the interval
	Bound          float64 `json:"bound"`           // highest rate that the kind promises, or 0
}

// keys names the keys without their number.
func (r Record) keys() string { return strings.TrimSuffix(r.Shape+" "+r.Density, " any") }

func (r Record) interval() string {
	return fmt.Sprintf("%s (%s–%s)", percent(r.FPR), percent(r.Low), percent(r.High))
}

// percent writes a rate in per cent, without the sign.
func percent(rate float64) string {
	decimals := 4
	if rate >= 0.01 {
		decimals = 2
	}
	return fmt.Sprintf("%.*f", decimals, 100*rate)
}

// Report fills in the records, the tables and the notes.
func (c *Config) Report(r *report.Report, records []Record) {
	r.Records = records
	r.Tables = tables(records)
	r.Notes = append(r.Notes, "A cell is a shape of keys with a density: which keys of a range "+
		"are present. Its rate is the mean over filters of different keys, with its 95 % interval "+
		"in brackets. The worst of many cells is partly chance. All kinds have the same present "+
		"and absent keys.")
	for _, s := range c.Sources {
		if note := s.Density.Name + ": " + s.Density.Doc + "."; !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
}

// tables returns a table of medians and worst cells for each number of bits per key. If there
// is one number, a table with all cells follows for each number of keys.
func tables(records []Record) (tables []report.Table) {
	byBits := groups(records, func(r Record) float64 { return r.Bits })
	for _, ofBits := range byBits {
		tables = append(tables, worstTable(ofBits))
	}
	if len(byBits) == 1 {
		for _, ofN := range groups(records, func(r Record) int { return r.N }) {
			tables = append(tables, cellTable(ofN))
		}
	}
	return tables
}

// worstTable has a row for each number of keys and kind.
func worstTable(records []Record) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("False-positive rates in %% at %v bits per key", records[0].Bits),
		Keys:  2,
		Columns: []string{"keys per filter", "kind", "size, bits per key", "median cell, %",
			"worst cell, %", "worst cell's keys", "bound, %"},
	}
	for _, ofN := range groups(records, func(r Record) int { return r.N }) {
		for _, ofKind := range groups(ofN, func(r Record) string { return r.Kind }) {
			slices.SortStableFunc(ofKind, func(a, b Record) int {
				return cmp.Compare(b.FPR, a.FPR)
			})
			var rates []float64
			for _, r := range ofKind {
				rates = append(rates, r.FPR)
			}
			worst, bound := ofKind[0], ""
			if worst.Bound > 0 {
				bound = percent(worst.Bound)
			}
			size := fmt.Sprintf("%.2f", 8*worst.FilterBytes/float64(worst.N))
			t.Add(worst.N, worst.Kind, size, percent(report.Median(rates)), worst.interval(),
				worst.keys(), bound)
		}
	}
	return t
}

// cellTable has a row for each shape and density, and a column for each kind.
func cellTable(records []Record) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("False positives in %%, %s per filter, %v bits per key",
			keys.CountN(records[0].N), records[0].Bits),
		Keys: 1, Columns: []string{"keys"},
	}
	for _, cell := range groups(records, Record.keys) {
		row := []any{cell[0].keys()}
		for _, r := range cell {
			if len(t.Rows) == 0 {
				t.Columns = append(t.Columns, r.Kind)
			}
			row = append(row, r.interval())
		}
		t.Add(row...)
	}
	return t
}

// groups returns the records with the same value of a field together, in the records' order.
func groups[T comparable](records []Record, field func(Record) T) (all [][]Record) {
	at := map[T]int{}
	for _, r := range records {
		i, ok := at[field(r)]
		if !ok {
			i = len(all)
			at[field(r)], all = i, append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}

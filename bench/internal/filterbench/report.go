package filterbench

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record compares a contestant with the base, which is the first one, in a cell.
type Record struct {
	Work       string    `json:"work"`         // hit (lookups of present keys), miss, or build
	N          int       `json:"n"`            // keys per filter
	Contestant string    `json:"contestant"`   // filter; '-again' is the base's second turn
	Base       string    `json:"base"`         // filter that it is compared with
	Ns         float64   `json:"ns_per_key"`   // nanoseconds per key
	Ratio      float64   `json:"ratio"`        // times as fast as the base
	Low        float64   `json:"ratio_low"`    // lower end of the ratio's interval of 95 %
	High       float64   `json:"ratio_high"`   // upper end of the interval
	Times      []float64 `json:"ns_per_round"` // nanoseconds per key of each round's turn
}

// parts is the least number of values of which the least and the greatest are an interval of 95 %
// of the median.
const parts = 6

// compare fills in what the base's times of the same rounds say. It takes the fastest turns of
// every sixth round, and so on: other programs slow down some turns, for a while, and leave others
// alone.
func (r *Record) compare(base []float64) {
	var fastest, ratios []float64
	for i := range min(parts, len(r.Times)) {
		ns := fastestOf(r.Times, i)
		fastest = append(fastest, ns)
		ratios = append(ratios, fastestOf(base, i)/ns)
	}
	r.Ns, r.Ratio = report.Median(fastest), report.Median(ratios)
	r.Low, r.High = slices.Min(ratios), slices.Max(ratios)
}

// fastestOf returns the fastest time of a part of the rounds.
func fastestOf(times []float64, part int) float64 {
	fastest := times[part]
	for i := part; i < len(times); i += parts {
		fastest = min(fastest, times[i])
	}
	return fastest
}

// Report fills in the records, a table, and the notes.
func (c *Config) Report(r *report.Report, records []Record) {
	r.Records = records
	contestants := len(c.Kinds) + 1
	base := records[0].Contestant
	t := report.Table{
		Title: fmt.Sprintf("ns per key of %s; for the others, times as fast as %[1]s (above 1 is "+
			"faster), with the interval of 95 %%", base),
		Keys: 2, Columns: []string{"work", "keys per filter", base + ", ns"},
	}
	for _, other := range records[1:contestants] {
		t.Columns = append(t.Columns, other.Contestant)
	}
	for cell := range slices.Chunk(records, contestants) {
		row := []any{cell[0].Work, cell[0].N, fmt.Sprintf("%.1f", cell[0].Ns)}
		for _, r := range cell[1:] {
			row = append(row, fmt.Sprintf("%.2f ±%.0f%%", r.Ratio,
				100*max(r.High/r.Ratio-1, 1-r.Low/r.Ratio)))
		}
		t.Add(row...)
	}
	r.Tables = []report.Table{t}
	r.Notes = append(r.Notes, fmt.Sprintf("hit and miss: lookups of %d present or absent keys in "+
		"random order in one filter. build: adding the keys, sorted, and building a filter, in "+
		"memory that was used before. Keys have %d random bytes.", numQueries, keyLength),
		fmt.Sprintf("In each round the contestants take turns. The rounds make %d parts, in each "+
			"of which the fastest turns are compared; what is shown is the median of the parts.",
			parts),
		fmt.Sprintf("%q is %q a second time: its distance from 1 is noise, and so are differences "+
			"of that size.", base+again, base),
		"All filters are called through an interface, as their engines call them.")
}

package filterbench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Results are turns in Go's benchmark format, in the order in which they were taken: of each
// contestant in a cell, the i-th is that of round i. The first round has the base first, which
// benchstat takes as its base too.
type Results []*benchfmt.Result

// Write writes the results, with what they were measured on, for benchstat and other programs that
// read Go's benchmark format.
func (results Results) Write(w io.Writer, e report.Environment) error {
	out := benchfmt.NewWriter(w)
	for _, r := range results {
		r.Config = nil
		for _, c := range [][2]string{{"goos", e.OS}, {"goarch", e.Arch}, {"cpu", e.CPU},
			{"commit", e.Commit}} {
			r.Config = append(r.Config, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// A Record compares a contestant with the base, which is the first one, in a cell.
type Record struct {
	Work       string  `json:"work" doc:"hit (lookups of present keys), miss, or build"`
	N          int     `json:"n" doc:"keys per filter"`
	Contestant string  `json:"contestant" doc:"implementation; '-again' is the base's second turn"`
	Base       string  `json:"base" doc:"implementation that it is compared with"`
	Rounds     int     `json:"rounds" doc:"rounds, in each of which each contestant had a turn"`
	Ns         float64 `json:"ns_per_key" doc:"nanoseconds per key"`
	Ratio      float64 `json:"ratio" doc:"times as fast as the base"`
	Low        float64 `json:"ratio_low" doc:"lower end of the ratio's interval of 95 %"`
	High       float64 `json:"ratio_high" doc:"upper end of the interval"`
}

// Records compares the contestants of each cell.
func (results Results) Records() (records []Record) {
	var parser benchproc.ProjectionParser
	cellOf := project(&parser, ".name,/n")
	contestantOf := project(&parser, "/filter")
	times := map[benchproc.Key]map[benchproc.Key][]float64{} // nanoseconds by round
	bases := map[benchproc.Key]benchproc.Key{}               // by cell
	var pairs [][2]benchproc.Key                             // cell and contestant
	for _, r := range results {
		cell, contestant := cellOf.Project(r), contestantOf.Project(r)
		if times[cell] == nil {
			times[cell], bases[cell] = map[benchproc.Key][]float64{}, contestant
		}
		if times[cell][contestant] == nil {
			pairs = append(pairs, [2]benchproc.Key{cell, contestant})
		}
		seconds, _ := r.Value("sec/op")
		times[cell][contestant] = append(times[cell][contestant], 1e9*seconds)
	}
	for _, pair := range pairs {
		cell, contestant := pair[0], pair[1]
		field := func(i int) string { return cell.Get(cellOf.Fields()[i]) }
		n, _ := strconv.Atoi(field(1))
		record := Record{
			Work: strings.ToLower(field(0)), N: n,
			Contestant: contestant.StringValues(), Base: bases[cell].StringValues(),
		}
		record.compare(times[cell][bases[cell]], times[cell][contestant])
		records = append(records, record)
	}
	return records
}

// parts is the least number of values for which the median has an interval of 95 %.
const parts = 6

// compare fills in what the times of the same rounds say. It takes the fastest turns of every sixth
// round, and so on: other programs slow down some turns, for a while, and leave others alone.
func (r *Record) compare(base, times []float64) {
	r.Rounds = len(times)
	var fastest, ratios []float64
	for i := range min(parts, r.Rounds) {
		ns := fastestOf(times, i)
		fastest = append(fastest, ns)
		ratios = append(ratios, fastestOf(base, i)/ns)
	}
	r.Ns = median(fastest).Center
	ratio := median(ratios)
	r.Ratio, r.Low, r.High = ratio.Center, ratio.Lo, ratio.Hi
	if math.IsInf(r.High, 1) { // there are fewer rounds than parts
		r.Low, r.High = slices.Min(ratios), slices.Max(ratios)
	}
}

// fastestOf returns the fastest time of a part of the rounds.
func fastestOf(times []float64, part int) float64 {
	fastest := times[part]
	for i := part; i < len(times); i += parts {
		fastest = min(fastest, times[i])
	}
	return fastest
}

func median(values []float64) benchmath.Summary {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95)
}

func project(parser *benchproc.ProjectionParser, fields string) *benchproc.Projection {
	p, err := parser.Parse(fields, nil)
	if err != nil {
		panic(err) // the fields are constants
	}
	return p
}

// Report fills in the records, a table, and the notes.
func (c *Config) Report(r *report.Report, results Results) {
	records := results.Records()
	r.Records = records
	r.WriteBench = func(w io.Writer) error { return results.Write(w, r.Environment) }
	names := c.Names()
	t := report.Table{
		Title: fmt.Sprintf("ns per key of %s; for the others, times as fast as %[1]s (above 1 is "+
			"faster), with the interval of 95 %%", names[0]),
		Keys:    2,
		Columns: slices.Concat([]string{"work", "keys per filter", names[0] + ", ns"}, names[1:]),
	}
	const noisy = 0.03
	var doubtful []string
	for cell := range slices.Chunk(records, len(names)) { // the base and the others
		base, again := cell[0], cell[1]
		row := []any{base.Work, base.N, report.Number{Value: base.Ns, Decimals: 1}}
		for _, r := range cell[1:] {
			row = append(row, fmt.Sprintf("%.2f ±%.0f%%", r.Ratio,
				100*max(r.High/r.Ratio-1, 1-r.Low/r.Ratio)))
		}
		t.Add(row...)
		if off := math.Abs(again.Ratio - 1); off > noisy {
			doubtful = append(doubtful,
				fmt.Sprintf("%v: %.0f %%", Cell{Work(base.Work), base.N}, 100*off))
		}
	}
	r.Tables = []report.Table{t}
	r.Notes = append(r.Notes, fmt.Sprintf("hit and miss: lookups of %d present or absent keys in "+
		"random order in one filter. build: adding the keys, sorted, and building a filter, in "+
		"memory that was used before. Keys have %d random bytes.", numQueries, keyLength),
		fmt.Sprintf("In each round the contestants take turns. The rounds make %d parts, in each "+
			"of which the fastest turns are compared; what is shown is the median of the parts. "+
			"%q is the same code again: its distance from 1 is noise.", parts, names[1]),
		"levelbloom is called through policy.Policy, other filters through the interface that "+
			"their engine calls. Contestants of the same encoding gave as many matches and built "+
			"the same bytes.")
	if doubtful != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("WARNING: %s differs from itself: ignore differences "+
			"of that size, or run again with more --rounds. %s.", names[0],
			strings.Join(doubtful, "; ")))
	}
}

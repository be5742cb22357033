package engines

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Report fills in a report of what was measured.
func (c *Config) Report(r *report.Report, all []Record) {
	r.Records, r.Conclusion, r.Tables = all, Conclusion(all), []report.Table{Table(all)}
	r.BarsTitle = "Data blocks read for 1,000 absent keys:"
	for _, n := range all {
		r.Bars = append(r.Bars, report.Bar{Group: EngineTitle(n.Engine), Label: Title(n.Filter),
			Value: n.PerThousand()})
	}
	r.Notes = c.notes()
}

// PerThousand returns the reads for 1,000 lookups of absent keys.
func (n Record) PerThousand() float64 { return 1000 * float64(n.Reads) / float64(n.Lookups) }

// EngineTitle returns the name of an engine for people.
func EngineTitle(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }

// Title says what a filter is, which its name on the command line may not.
func Title(filter string) string {
	titles := map[string]string{None: "no filter", BuiltIn: "the engine's own",
		RibbonL6: "ribbon, adapter's Get"}
	kind, bits, _ := strings.Cut(filter, ":")
	if bits != "" {
		bits, options, _ := strings.Cut(bits, "+")
		kind = strings.TrimSuffix(kind+"+"+options, "+") + ", " + bits + " bits"
	}
	return cmp.Or(titles[filter], kind)
}

// Conclusion says in a sentence which part of the reads the best filter leaves in each engine. It
// is empty if none was compared with no filter.
func Conclusion(all []Record) string {
	var b strings.Builder
	filters := "" // of the clause before
	for i, none := range all {
		if none.Filter != None {
			continue
		}
		if none.Reads == 0 {
			return "Lookups read nothing, so filters have no reads to save."
		}
		best := none
		for _, n := range all[i:] {
			if n.Engine == none.Engine && n.Reads < best.Reads {
				best = n
			}
		}
		kind := strings.TrimSuffix(strings.Replace(best.Filter, BuiltIn, Title(BuiltIn), 1), "+L6")
		switch {
		case best.Filter == None:
			continue
		case filters == "":
			fmt.Fprintf(&b, "Of the reads for absent keys, %s filters leave", kind)
		case filters != kind:
			fmt.Fprintf(&b, ", and %s filters", kind)
		default:
			b.WriteString(", and")
		}
		filters = kind
		if best.Filter == RibbonL6 {
			b.WriteString(" with the adapter's Get")
		}
		part := "none"
		if best.Reads > 0 {
			part = "1 of " + report.Rounded(float64(none.Reads)/float64(best.Reads))
		}
		fmt.Fprintf(&b, " %s in %s", part, EngineTitle(best.Engine))
	}
	return b.String() + strings.Repeat(".", min(1, b.Len()))
}

// Table has the sizes of filters and the speeds of lookups: of the first filter per second, and of
// others how many times as high as in the first one's turn of the same round.
func Table(all []Record) report.Table {
	first := map[string]Record{} // by engine
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "bits per key",
		"lookups, absent keys", "lookups, present keys"},
		Title: fmt.Sprintf("Lookups per second with %s, and how many times as many with other "+
			"filters", Title(all[0].Filter))}
	for _, n := range all {
		if n.Filter == all[0].Filter {
			first[n.Engine] = n
		}
		bits := ""
		if n.FilteredKeys > 0 {
			bits = fmt.Sprintf("%.1f", 8*float64(n.FilterBytes)/float64(n.FilteredKeys))
		}
		t.Add(EngineTitle(n.Engine), Title(n.Filter), bits,
			speed(n.Absent, first[n.Engine].Absent, n.Filter == all[0].Filter),
			speed(n.Present, first[n.Engine].Present, n.Filter == all[0].Filter))
	}
	return t
}

// speed writes the median of values per second, or relative to the first filter's.
func speed(values, first []float64, isFirst bool) string {
	if isFirst {
		return report.Digits(report.Median(values)) + "/s"
	}
	var ratios []float64
	for round := range min(len(values), len(first)) {
		ratios = append(ratios, values[round]/first[round])
	}
	return report.Times(ratios)
}

// notes say how the figures are to be read.
func (c *Config) notes() []string {
	megabytes := func(bytes int) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
	source := c.Keys.Source
	which := "anywhere"
	if source.Density.Between() {
		which = "63 % of a range, and absent ones between them"
	}
	others := ""
	if source.Shape.Name == "random" {
		others = " Dense decimal numbers, where LevelDB's hash is at its worst: --shape decimal."
	}
	return []string{
		fmt.Sprintf("Keys: %s of the shape %s, such as %s, %s.%s",
			report.Digits(float64(len(c.Keys.Present))), source.Shape.Name, source.Shape.Example(),
			which, others),
		fmt.Sprintf("Simulated: temporary databases of %s, with a block cache of %s. Each read of "+
			"table data takes %v longer. Pebble's own Get asks no filter in L6, where most keys "+
			"are; the adapter's does.",
			megabytes(c.dataBytes()), megabytes(c.cache("")), c.Disk),
		"Differences of a tenth are noise. --rounds 3 gives ranges: lowest–highest.",
		"For a database that you have, filterdump counts what lookups read, and says what to " +
			"change there:",
		"  go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY",
	}
}

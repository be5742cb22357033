package enginebench

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Report fills in a report of what was measured. That of the long run has a second table.
func (c *Config) Report(r *report.Report, all Records) {
	r.Records = all
	r.Conclusion = c.conclusion(all.Counted)
	r.BarsTitle = "data blocks read for 1,000 absent keys"
	for _, n := range all.Counted {
		r.Bars = append(r.Bars, report.Bar{Group: n.Engine, Label: meaning(n.Filter),
			Value: n.perThousand()})
	}
	r.Tables = []report.Table{c.table(all)}
	if c.All {
		r.Tables = append(r.Tables, c.secondTable(all))
	}
	r.Notes = append(r.Notes, c.notes()...)
}

// perThousand returns the reads for 1,000 lookups.
func (n Counted) perThousand() float64 { return 1000 * float64(n.Reads) / float64(n.Lookups) }

// conclusion says what the filters are worth, in a sentence.
func (c *Config) conclusion(counted []Counted) string {
	var b strings.Builder
	for i, n := range counted {
		number := report.Digits(n.perThousand())
		switch {
		case i == 0:
			fmt.Fprintf(&b, "%s reads %s blocks for 1,000 absent keys", n.Engine, number)
		case n.Engine != counted[i-1].Engine:
			fmt.Fprintf(&b, "; %s %s", n.Engine, number)
		default:
			fmt.Fprintf(&b, ", %s", number)
		}
		b.WriteString(" with " + meaning(n.Filter))
	}
	b.WriteString(".")
	if c.Cached {
		b.WriteString(" All data is cached, so filters have no reads to save.")
	}
	return b.String()
}

// meaning says what a filter is, which its name on the command line may not.
func meaning(filter string) string {
	meanings := map[string]string{engine.None: "no filter", engine.BuiltIn: "the engine's own",
		engine.RibbonL6: "ribbon in L6 too and the adapter's Get"}
	kind, bits, ok := strings.Cut(filter, ":")
	if ok {
		bits, options, _ := strings.Cut(bits, "+")
		kind = strings.TrimSuffix(kind+"+"+options, "+") + " of " + bits + " bits"
	}
	return cmp.Or(meanings[filter], kind)
}

// inTable is a short form of it.
func inTable(filter string) string {
	return strings.TrimSuffix(meaning(filter), " and the adapter's Get")
}

// table is the one table of the short run.
func (c *Config) table(all Records) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "bits per key",
		"reads per 1,000 absent keys", "lookups, absent keys", "lookups, present keys"},
		Title: fmt.Sprintf("Lookups per second with %s if a read takes %v, and how many times as "+
			"many with other filters", meaning(c.Filters[0]), c.Disk)}
	if c.All {
		t.Title += " in the same round: median (minimum–maximum)"
	}
	for _, n := range all.Counted {
		bits := ""
		if n.Keys > 0 {
			bits = fmt.Sprintf("%.1f", 8*float64(n.FilterBytes)/float64(n.Keys))
		}
		t.Add(n.Engine, inTable(n.Filter), bits, report.Digits(n.perThousand()),
			c.speed(all, n, missSpeed), c.speed(all, n, hitSpeed))
	}
	return t
}

// secondTable has what else the long run measures.
func (c *Config) secondTable(all Records) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "keys per filter",
		"reads per 1,000 present keys", "reads per 1,000 rewritten keys",
		"lookups, rewritten keys", "load"},
		Title: "Sizes of filters, reads of keys that are present, and speed: per second with " +
			meaning(c.Filters[0]) + ", and how many times as fast with other filters"}
	for _, n := range all.Counted {
		perFilter := ""
		if n.Filters > 0 {
			perFilter = report.Digits(float64(n.Keys / n.Filters))
		}
		perThousand := func(f figure) string {
			return report.Digits(1000 * report.Median(all.of(n.Engine, n.Filter, f)))
		}
		t.Add(n.Engine, inTable(n.Filter), perFilter, perThousand(hitReads), perThousand(rewrittenReads),
			c.speed(all, n, rewrittenSpeed), c.speed(all, n, loadSpeed))
	}
	return t
}

// speed writes a speed of the first filter, and of others how many times as high it is as in the
// first one's turn of the same round.
func (c *Config) speed(all Records, n Counted, f figure) string {
	values, first := all.of(n.Engine, n.Filter, f), all.of(n.Engine, c.Filters[0], f)
	if n.Filter == c.Filters[0] {
		return report.Digits(report.Median(values)) + "/s"
	}
	var ratios []float64
	for round := range min(len(values), len(first)) {
		ratios = append(ratios, values[round]/first[round])
	}
	return report.Range(ratios)
}

// notes say how the figures are to be read.
func (c *Config) notes() []string {
	megabytes := func(bytes int) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
	shape := c.Keys.Source.Shape
	more := "Differences of a tenth are noise. bench --all has more figures, with ranges."
	if c.All {
		more = fmt.Sprintf("A rewritten key also has an older version in a lower level. Load "+
			"includes flushes and compactions; its reads do not wait. Files are in the operating "+
			"system's cache; a read waits %v longer. goleveldb's seek compactions are off "+
			"(DisableSeeksCompaction).", c.Disk)
	}
	return []string{
		fmt.Sprintf("Keys: %v keys of the shape %s, such as %s: 63 %% of a range is present, as "+
			"LevelDB's db_bench fillrandom leaves it; absent ones lie between.",
			keys.Count(len(c.Keys.Present)), shape.Name, shape.Example()),
		fmt.Sprintf("Simulated: bench filled temporary databases of %s, with a block cache of %s. "+
			"Only the adapter's Get and Has check filters in Pebble's L6, so it has none without "+
			"them; with them, the block cache is larger by these filters.",
			megabytes(c.dataBytes()), megabytes(c.cache(""))),
		more,
		"For a database that you have, filterdump counts what lookups read, and says what to " +
			"change there:",
		"    go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY",
	}
}

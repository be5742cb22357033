package enginebench

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Report fills in a report of what was measured. That of the long run has all figures.
func (c *Config) Report(r *report.Report, all Records) {
	r.Records = all
	r.Conclusion = c.conclusion(all.Counted)
	r.BarsTitle = "data blocks read for 1,000 absent keys"
	for _, n := range all.Counted {
		r.Bars = append(r.Bars, report.Bar{Group: n.Engine, Label: explained(n.Filter),
			Value: n.perThousand()})
	}
	tables := []report.Table{c.summary(all)}
	if c.All {
		tables = []report.Table{c.speeds(all), c.sizes(all), c.settingsTable(all)}
	}
	r.Notes = append(r.Notes, c.notes()...)
	for _, t := range tables {
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
}

// perThousand returns the reads for 1,000 lookups.
func (n Counted) perThousand() float64 { return 1000 * float64(n.Reads) / float64(n.Lookups) }

// conclusion says what the filters are worth, in a sentence. It is empty if nothing was counted.
func (c *Config) conclusion(counted []Counted) string {
	var b strings.Builder
	for i, n := range counted {
		number, first := report.Digits(n.perThousand()), i == 0 || n.Engine != counted[i-1].Engine
		switch {
		case i == 0:
			fmt.Fprintf(&b, "%s reads %s blocks for 1,000 absent keys", n.Engine, number)
		case first:
			fmt.Fprintf(&b, "; %s %s", n.Engine, number)
		default:
			fmt.Fprintf(&b, ", %s", number)
		}
		b.WriteString(" " + phrase(n.Filter))
	}
	if b.Len() > 0 {
		b.WriteString(".")
	}
	if b.Len() > 0 && c.Cached {
		b.WriteString(" All data is cached, so filters have no reads to save.")
	}
	return b.String()
}

// phrase names a filter in a sentence.
func phrase(filter string) string {
	switch filter {
	case engine.None:
		return "without filters"
	case engine.BuiltIn:
		return "with its own"
	case engine.RibbonL6:
		return "with ribbon in L6 too and the adapter's Get"
	}
	return "with " + filter
}

// explained returns the name of a filter with what it means, where that is not plain.
func explained(filter string) string {
	_, bits, _ := strings.Cut(filter, ":")
	switch {
	case filter == engine.BuiltIn:
		return filter + " (the engine's own)"
	case filter == engine.RibbonL6:
		return filter + " (in L6 too, adapter's Get)"
	case bits != "":
		return fmt.Sprintf("%s (%s bits per key)", filter, bits)
	}
	return filter
}

// summary is the one table of the short run.
func (c *Config) summary(all Records) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "bits per key",
		"reads per 1,000 absent keys", "lookups, absent keys", "lookups, present keys"},
		Title: fmt.Sprintf("Lookups per second with %s if a read takes %v, and how many times as "+
			"many with other filters", c.Filters[0], c.Disk)}
	for _, n := range all.Counted {
		turns := all.of(n.Engine, n.Filter)
		if len(turns) == 0 { // it was interrupted
			continue
		}
		t.Add(n.Engine, explained(n.Filter), n.bitsPerKey(), report.Digits(n.perThousand()),
			c.speed(all, turns, missSpeed), c.speed(all, turns, hitSpeed))
	}
	return t
}

// bitsPerKey is the bits of filters for each key that has one.
func (n Counted) bitsPerKey() string {
	if n.Keys == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", 8*float64(n.FilterBytes)/float64(n.Keys))
}

// speed writes a speed of the first filter, and of others how many times as high it is.
func (c *Config) speed(all Records, turns []Timed, f figure) string {
	if turns[0].Filter == c.Filters[0] {
		return report.Digits(median(turns, f)) + "/s"
	}
	return ratio(turns, all.of(turns[0].Engine, c.Filters[0]), f).String()
}

// speeds is the long run's table of the timed passes.
func (c *Config) speeds(all Records) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "absent", "present",
		"rewritten", "load"},
		Title: fmt.Sprintf("Speed if a read takes %v: per second with %s, and with other filters "+
			"times as fast in the same round, median (minimum–maximum)", c.Disk, c.Filters[0])}
	for _, first := range all.Timed { // the first round is in order
		if first.Round == 1 {
			turns := all.of(first.Engine, first.Filter)
			t.Add(first.Engine, first.Filter, c.speed(all, turns, missSpeed),
				c.speed(all, turns, hitSpeed), c.speed(all, turns, rewrittenSpeed),
				c.speed(all, turns, loadSpeed))
		}
	}
	return t
}

// sizes is the long run's table of reads and sizes.
func (c *Config) sizes(all Records) report.Table {
	t := report.Table{Title: "Reads per 1,000 lookups, and sizes of filters", Keys: 2,
		Columns: []string{"engine", "filter", "absent", "present", "rewritten", "keys per filter",
			"bits per key"}}
	for _, n := range all.Counted {
		turns := all.of(n.Engine, n.Filter)
		perThousand := func(f figure) string { return report.Digits(1000 * median(turns, f)) }
		keys := ""
		if n.Filters > 0 {
			keys = report.Digits(float64(n.Keys / n.Filters))
		}
		t.Add(n.Engine, n.Filter, report.Digits(n.perThousand()),
			perThousand(func(t Timed) float64 { return t.Hit.Reads }),
			perThousand(func(t Timed) float64 { return t.Rewritten.Reads }), keys, n.bitsPerKey())
	}
	return t
}

// settingsTable has a row for each setting.
func (c *Config) settingsTable(all Records) report.Table {
	t := report.Table{Keys: 1, Columns: []string{"settings", "reads per 1,000 absent keys",
		"MiB written per million absent keys"}}
	for _, s := range all.Settings {
		t.Title = fmt.Sprintf("goleveldb with %s filters and %.0f MB of data, by settings (caches "+
			"have the default sizes, unless a row says otherwise)", s.Filter, c.megabytes())
		t.Add(s.Setting, report.Digits(1000*float64(s.Reads)/float64(s.Lookups)),
			fmt.Sprintf("%.1f", float64(s.Written)/(1<<20)*1e6/float64(s.Lookups)))
	}
	return t
}

func (c *Config) megabytes() float64 { return float64(c.DataBytes()) / 1e6 }

// notes say how the figures are to be read.
func (c *Config) notes() []string {
	cache := "all filters and a part of the data"
	if c.Cached {
		cache = "all of the data"
	}
	notes := []string{fmt.Sprintf("Simulated: bench filled temporary databases of %.0f MB, whose "+
		"block cache (%.1f MB) has room for %s. In Pebble, L6 has filters with %s alone, as only "+
		"the adapter's Get and Has ask those.", c.megabytes(), float64(c.Cache(""))/1e6, cache,
		engine.RibbonL6)}
	if !c.All {
		return append(notes, "Differences of a tenth are noise. bench --all has more figures, "+
			"with ranges.")
	}
	notes = append(notes, "A rewritten key also has an older version in a lower level. Load "+
		"includes flushes and compactions; its reads do not wait. Files are in the operating "+
		"system's cache; a read waits "+c.Disk.String()+" longer. goleveldb's seek compactions "+
		"are off (WithoutSeekCompactions), unless a row says that they are on.")
	if room := c.Cache(engine.RibbonL6) - c.Cache(""); room > 0 {
		notes = append(notes, fmt.Sprintf("For %s the block cache is %.1f MB larger, the size of "+
			"L6's filters.", engine.RibbonL6, float64(room)/1e6))
	}
	return notes
}

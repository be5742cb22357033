package engines

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Report returns a report of what was measured.
func (c *Config) Report(all []Record) *report.Report {
	r := &report.Report{Records: all, Conclusion: c.conclusion(all), Notes: c.notes(),
		Table: Table(all, c.Disk), BarsTitle: "Data blocks read for 1,000 absent keys:"}
	for _, n := range all {
		r.Bars = append(r.Bars, n.Absent.PerThousand())
	}
	return r
}

// EngineTitle returns the name of an engine for people.
func EngineTitle(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }

// Title says what a filter is, which its name on the command line may not.
func Title(filter string) string {
	filter, inL6 := strings.CutSuffix(filter, L6)
	titles := map[string]string{None: "no filter", BuiltIn: "engine's own"}
	kind, bits, _ := strings.Cut(filter, ":")
	if bits != "" {
		bits, options, _ := strings.Cut(bits, "+")
		kind = strings.TrimSuffix(kind+"+"+options, "+") + ", " + bits + " bits"
	}
	title := cmp.Or(titles[filter], kind)
	if inL6 {
		title += ", adapter's Get"
	}
	return title
}

// conclusion says in a sentence which part of the reads the best filter leaves in each engine. It
// is empty if none was compared with no filter.
func (c *Config) conclusion(all []Record) string {
	if c.Cached {
		return "All data is cached, so filters have no reads to save."
	}
	sentence, before := "", ""
	for i, none := range all {
		best := none
		for _, r := range all[i:] {
			if r.Engine == none.Engine && r.Absent.PerThousand() < best.Absent.PerThousand() {
				best = r
			}
		}
		if none.Filter != None || best.Filter == None {
			continue
		}
		kind, inL6 := strings.CutSuffix(best.Filter, L6)
		if kind == BuiltIn {
			kind = "the engine's own"
		}
		if sentence == "" {
			sentence = fmt.Sprintf("Of the reads for absent %s keys, %s filters leave",
				c.Keys.Shape.Name, kind)
		} else if sentence += ", and"; kind != before {
			sentence += " " + kind + " filters"
		}
		if before = kind; inL6 {
			sentence += " with the adapter's Get"
		}
		part := "none"
		if best.Absent.Blocks > 0 {
			digits := 1 // a small count bears no more
			if best.Absent.Blocks >= enoughBlocks {
				digits = 2
			}
			times := none.Absent.PerThousand() / best.Absent.PerThousand()
			part = "about 1 of " + report.Rounded(times, digits)
		}
		sentence += " " + part + " in " + EngineTitle(best.Engine)
	}
	return strings.TrimPrefix(sentence+".", ".")
}

// Table has the sizes of filters, the speed of lookups, and the reads for present keys.
func Table(all []Record, disk time.Duration) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter", "bits\nper key",
		"absent\nkeys", "present\nkeys", "reads for\n1,000\npresent"},
		Title: fmt.Sprintf("Lookups per second without filters, if a read takes %v, and how many "+
			"times as many with them", disk)}
	for _, r := range all {
		var none Record // to compare with
		for _, other := range all {
			if other.Engine == r.Engine && other.Filter == None && r.Filter != None {
				none = other
			}
		}
		bits := ""
		if none.Keys > 0 {
			bits = fmt.Sprintf("%.1f", 8*float64(r.Bytes-none.Bytes)/float64(r.Keys))
		}
		t.Rows = append(t.Rows, []string{EngineTitle(r.Engine), Title(r.Filter), bits,
			speed(r.Absent, none.Absent, disk), speed(r.Present, none.Present, disk),
			report.Digits(r.Present.PerThousand())})
	}
	return t
}

// speed writes the lookups per second, or how many times as many they are as without filters, if
// these were measured. It is the median of the rounds.
func speed(p, none Pass, disk time.Duration) string {
	values, without := p.perSecond(disk), none.perSecond(disk)
	if len(without) == 0 {
		return report.Digits(report.Median(values)) + "/s"
	}
	values = values[:min(len(values), len(without))]
	for round := range values {
		values[round] /= without[round]
	}
	return report.Digits(report.Median(values)) + "x"
}

// notes say how the figures are to be read.
func (c *Config) notes() []string {
	megabytes := func(bytes int) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
	shape, more := c.Keys.Shape.Name, "They are 63 % of a range, and absent ones lie between."
	if shape == "random" {
		more = "For dense decimals, where LevelDB's hash is at its worst: --shape decimal."
	}
	return []string{
		fmt.Sprintf("Keys: %s %s ones of %d bytes. %s", report.Digits(float64(len(c.Keys.Present))),
			shape, len(c.Keys.Present[0]), more),
		fmt.Sprintf("Temporary databases of %s, with a block cache of %s. A filter in goleveldb is "+
			"for 64 KiB of data (FilterBaseLg 16), or 2 KiB, the default, if it is goleveldb's own. "+
			"Pebble's own Get asks no filter in L6, where most keys are; only for the adapter's Get "+
			"there are some.", megabytes(c.dataBytes()), megabytes(c.cache(""))),
		fmt.Sprintf("Reads are counted until there are %d, or no more absent keys. They are the same "+
			"on every machine, but for 2 %% with the adapter's Get. Speeds are medians of %d rounds, "+
			"in CPU time, to which each read adds %v (--disk): differences of a tenth are noise, and "+
			"of a half where few reads are left.", enoughBlocks, rounds, c.Disk),
		"For a database that you have, filterdump counts what lookups read, and says what to " +
			"change there:",
		"  go run github.com/levelbloom/levelbloom/sstable/filterdump@latest DIRECTORY",
	}
}

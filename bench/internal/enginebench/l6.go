package enginebench

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// l6Table shows what lookups gain and lose that ask the filters of Pebble's L6: misses, hits, and
// hits of keys that were written again. It is empty if no contestant asks them.
func (o *Outcome) l6Table() report.Table {
	t := report.Table{
		Title: "L6: lookups per second and reads of table data per lookup (small cache, medians " +
			"over the rounds). The engine's own Get asks no filter in L6; " + engine.RibbonL6 +
			" is the adapter's Get, which does. Rewritten keys also have an older version in a " +
			"lower level",
		Keys: 3, Columns: []string{"engine", "a read waits", "filter"},
	}
	kinds := []string{Miss, Hit, Rewritten}
	for _, keys := range kinds {
		t.Columns = append(t.Columns, keys+", per second", keys+", reads")
	}
	for _, e := range o.Engines {
		if len(o.of(e, engine.RibbonL6)) == 0 {
			continue
		}
		for _, disk := range o.Disks {
			for _, filter := range o.Filters {
				row := []any{e.Name, disk.String(), filter}
				for _, keys := range kinds {
					p := newPass(Small, disk, o.Threads[0], keys)
					reads := p.of(func(p Pass) float64 { return p.Reads })
					row = append(row,
						report.Number{Value: o.median(e, filter, p.speed())},
						report.Number{Value: o.median(e, filter, reads), Decimals: 4})
				}
				if len(o.of(e, filter)) > 0 {
					t.Add(row...)
				}
			}
		}
	}
	return t
}

// CacheRule says how large Pebble's block cache must be.
const CacheRule = "Pebble keeps filters in its block cache, and takes the memory of memtables out " +
	"of it: give it 2 x MemTableSize + 2 x the bytes of the filters + what the data need " +
	"(CheckCache of the adapter compares them)."

// l6Conclusion says for each engine what RibbonL6 gains on the slowest disk, and what it costs.
func (o *Outcome) l6Conclusion() (lines []string) {
	for _, e := range o.Engines {
		if len(o.of(e, engine.RibbonL6)) == 0 || !slices.Contains(o.Filters, ribbon) {
			continue
		}
		disk := o.Disks[len(o.Disks)-1]
		faster := func(keys string) float64 {
			p := newPass(Small, disk, o.Threads[0], keys)
			return o.ratio(e, engine.RibbonL6, ribbon, p.speed()).Middle
		}
		reads := newPass(Small, disk, o.Threads[0], Miss).of(func(p Pass) float64 { return p.Reads })
		lines = append(lines, fmt.Sprintf("%s: the adapter's Get, with filters in L6, needs %.4f "+
			"reads per miss instead of %.4f. If a read takes %v, misses are %.1f times as fast, "+
			"hits %.2f times, and hits of keys that also lie in a lower level %.2f times.", e.Name,
			o.median(e, engine.RibbonL6, reads), o.median(e, ribbon, reads), disk, faster(Miss),
			faster(Hit), faster(Rewritten)))
	}
	return lines
}

// ribbon is the filter that RibbonL6 is compared with.
const ribbon = "ribbon"

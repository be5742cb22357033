package filterbench

import (
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is one contestant's turn.
type Record struct {
	Work       string  `json:"work" doc:"lookup, many, batch or build"`
	Mix        string  `json:"keys" doc:"hit or miss; empty for build"`
	N          int     `json:"n" doc:"keys per filter"`
	Length     int     `json:"key_bytes" doc:"bytes of a key"`
	Contestant string  `json:"contestant" doc:"implementation; 'again' is the base's second turn"`
	Round      int     `json:"round" doc:"round, from 1"`
	Ns         float64 `json:"ns_per_key" doc:"nanoseconds per key"`
}

// Report fills in the records, a table for each work, and the notes.
func (c *Config) Report(r *report.Report, results []Result) {
	names := c.Names()
	records := []Record{}
	for _, result := range results {
		for _, name := range names {
			for round, ns := range result.Times[name] {
				records = append(records, Record{string(result.Work), string(result.Mix), result.N,
					result.Length, name, round + 1, ns})
			}
		}
	}
	r.Records = records
	base := names[0]
	for _, work := range Works {
		t := report.Table{
			Title: fmt.Sprintf("%s: ns per key of %s; for the others, times as fast as %[2]s "+
				"(above 1 is faster)", work, base),
			Keys: 3,
			Columns: slices.Concat(
				[]string{"look up", "keys per filter", "key bytes", base + ", ns"}, names[1:]),
		}
		for _, result := range results {
			if result.Work != work {
				continue
			}
			row := []any{string(result.Mix), result.N, result.Length,
				report.Number{Value: result.ns(base), Decimals: 1}}
			for _, name := range names[1:] {
				ratio := result.ns(base) / result.ns(name)
				row = append(row, report.Number{Value: ratio, Decimals: 2})
			}
			t.Add(row...)
		}
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("lookup: %d keys in random order in one filter. many: "+
		"the same in %d MiB of filters, a random one for each key. batch: %d keys in a call, for "+
		"contestants that can. build: adding the keys, sorted, and building a filter, in memory "+
		"that was used before.", numQueries, c.ManyBytes>>20, keysAtOnce),
		fmt.Sprintf("A time is the mean of a contestant's fastest tenth of turns. %q is the same "+
			"code again: its distance from 1 is noise.", names[1]),
		"levelbloom is called through policy.Policy, other filters through the interface that "+
			"their engine calls. C++ LevelDB runs in a process of its own, by its own clock, and "+
			"gets an array of all keys to build a filter. Contestants of the same encoding gave "+
			"the same answers and built the same bytes.")
	for _, result := range results {
		const noisy = 0.03
		if noise := math.Abs(result.ns(names[1])/result.ns(base) - 1); noise > noisy {
			r.Notes = append(r.Notes, fmt.Sprintf("WARNING: %v: %s differs from itself by "+
				"%.0f %%: ignore differences of that size, or run again with more -rounds",
				result.Cell, base, 100*noise))
		}
	}
}

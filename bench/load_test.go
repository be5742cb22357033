//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var rounds = flag.Int("rounds", 5, "of BenchmarkLoad")

// part is how many bytes of entries BenchmarkLoad writes before it waits for compactions. Engines
// flush by themselves after more: which tables there are depends on keys, not on who is faster.
const part = 2_500_000

// BenchmarkLoad compares what filters cost in a whole load, with its flushes and compactions: 29 MB
// of entries with keys of 16 bytes. Keys and values are random. Filters take turns. A round gives
// each one, in random order, and no filter a second, "again", whose distance from 1 is noise. The
// metrics are the CPU time of the process and the bytes written, as multiples of those without
// filters in the same round, and the filters' bits per key: medians of rounds. The engine's own
// filters have its default settings, all others those of the top README's programs; "2KiB" has
// goleveldb's windows. Nothing is reported if a key is lost or little was compacted.
//
//	go test ./bench -run '^$' -bench Load -benchtime 1x -timeout 0
func BenchmarkLoad(b *testing.B) {
	const again = "again"
	rng := testkit.Rand(b, 1)
	data := make([]byte, 29_000_000)
	rng.Read(data)
	for _, e := range []struct {
		name    string
		open    func(b *testing.B, dir, filter string, log bool) renewable
		filters []string
	}{
		{"goleveldb", openGoleveldb, []string{engines.None, again, engines.BuiltIn, "bloom", "ribbon",
			"ribbon" + smallWindows}},
		{"pebblev2", openPebble, []string{engines.None, again, engines.BuiltIn, "bloom", "ribbon"}},
	} {
		for _, size := range []int{100, 1000, 4000} {
			b.Run(fmt.Sprintf("%s/values=%d", e.name, size), func(b *testing.B) {
				entries := slices.Collect(slices.Chunk(data, 16+size))[:len(data)/(16+size)]
				costs := make([]costs, len(e.filters))
				for range *rounds {
					for _, i := range rng.Perm(len(e.filters)) {
						name := e.filters[i]
						if name == again {
							name = engines.None
						}
						dir := b.TempDir()
						costs[i].load(b, rng, entries, e.open(b, dir, name, true))
						require.NoError(b, os.RemoveAll(dir))
					}
				}
				for i, name := range e.filters {
					b.Run(name, func(b *testing.B) {
						c, none := costs[i], costs[0]
						require.Equal(b, name == engines.None || name == again, slices.Max(c.bits) == 0)
						b.ReportMetric(0, "ns/op")
						b.ReportMetric(report.Median(c.cpu)/float64(len(entries)), "ns/key")
						b.ReportMetric(report.Median(ratios(c.cpu, none.cpu)), "cpu")
						b.ReportMetric(report.Median(ratios(c.written, none.written)), "written")
						b.ReportMetric(report.Median(c.bits), "bits/key")
					})
				}
			})
		}
	}
}

// costs are those of a filter by round.
type costs struct{ cpu, written, bits []float64 }

// load puts all entries into db, and closes it.
func (c *costs) load(b *testing.B, rng *rand.Rand, entries [][]byte, db renewable) {
	runtime.GC() // what is left of the turn before
	start := cpu(b)
	for some := range slices.Chunk(entries, part/len(entries[0])) {
		for _, e := range some {
			if err := db.put(e[:16], e[16:]); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, db.settle())
	}
	c.cpu = append(c.cpu, cpu(b)-start)
	c.written = append(c.written, float64(db.written()))
	c.bits = append(c.bits, 8*float64(db.filters())/float64(len(entries)))
	for range 1000 {
		key := slices.Clone(entries[rng.Intn(len(entries))][:16])
		for _, present := range []bool{true, false} {
			found, err := db.has(key)
			require.NoError(b, err)
			require.Equal(b, present, found, "%x", key)
			key[15]++
		}
	}
	all := float64(len(entries) * len(entries[0]))
	require.Greater(b, float64(db.written()), 2.5*all, "the log, flushes, and compactions")
	require.NoError(b, db.close())
}

// cpu returns the CPU time of the process in nanoseconds.
func cpu(b *testing.B) float64 {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

// ratios returns those of each round.
func ratios(a, to []float64) (r []float64) {
	for i := range a {
		r = append(r, a[i]/to[i])
	}
	return r
}

package policy

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// BenchmarkRibbonAgainst compares ribbon filters with goleveldb's own filters of 10 bits per key.
// Both take turns in slices of a few milliseconds; it reports the medians in ns per key, and how
// often goleveldb's time ribbon takes:
//
//	go test ./policy -run '^$' -bench RibbonAgainst -benchtime 1x
func BenchmarkRibbonAgainst(b *testing.B) {
	ribbon, err := NewRibbon(10)
	if err != nil {
		b.Fatal(err)
	}
	builtin := filter.NewBloomFilter(10)
	for _, length := range []int{16, 64} {
		for _, n := range []int{36, 64, 250, 1000, 10_000, 1_000_000} {
			rng := policytest.Rand(b, 60)
			memory := make([]byte, (n+2*benchQueries)*length)
			rng.Read(memory)
			all := make([][]byte, n+2*benchQueries)
			for i := range all {
				all[i], memory = memory[:length:length], memory[length:]
			}
			keys, hits, misses := all[:n], all[n:n+benchQueries], all[n+benchQueries:]
			for i := range hits {
				copy(hits[i], keys[rng.Intn(n)])
			}
			ours := ribbon.AppendFilter(nil, keys)
			var buffer util.Buffer
			generator := builtin.NewGenerator()
			buildTheirs := func(keys [][]byte) []byte {
				for _, key := range keys {
					generator.Add(key)
				}
				buffer.Reset()
				generator.Generate(&buffer)
				return buffer.Bytes()
			}
			theirs := slices.Clone(buildTheirs(keys))
			lookups := func(queries [][]byte) {
				step := 0
				out := make([]bool, len(queries))
				part := func() [][]byte {
					step = (step + 4096) % len(queries)
					return queries[step : step+4096]
				}
				compare(b, fmt.Sprintf("n=%d/len=%d/hits=%v", n, length, &queries[0] == &hits[0]), 4096, map[string]func(){
					"ribbon": func() {
						for _, key := range part() {
							if ribbon.MayContain(ours, key) {
								benchFound++
							}
						}
					},
					"goleveldb": func() {
						for _, key := range part() {
							if builtin.Contains(theirs, key) {
								benchFound++
							}
						}
					},
					"many": func() { ribbon.MayContainMany(ours, part(), out) },
				})
			}
			lookups(hits)
			lookups(misses)
			builder := ribbon.NewBuilder()
			times := max(1, 10_000/n)
			compare(b, fmt.Sprintf("n=%d/len=%d/build", n, length), n*times, map[string]func(){
				"ribbon": func() {
					for range times {
						for _, key := range keys {
							builder.Add(key)
						}
						ours = builder.Finish(ours[:0])
					}
				},
				"goleveldb": func() {
					for range times {
						buildTheirs(keys)
					}
				},
			})
		}
	}
}

// compare runs the functions, which each handle n keys, in turn, and reports the medians.
func compare(b *testing.B, name string, n int, contestants map[string]func()) {
	b.Run(name, func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		taken := map[string][]time.Duration{}
		rounds, end := 0, time.Now().Add(400*time.Millisecond)
		for rounds < 21 || time.Now().Before(end) {
			rounds++
			for _, c := range []string{"goleveldb", "ribbon", "many"} {
				if f := contestants[c]; f != nil {
					start := threadTime()
					f()
					taken[c] = append(taken[c], threadTime()-start)
				}
			}
		}
		median := func(c string) float64 {
			slices.Sort(taken[c])
			return float64(taken[c][len(taken[c])/2].Nanoseconds()) / float64(n)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median("goleveldb"), "goleveldb-ns")
		b.ReportMetric(median("ribbon"), "ribbon-ns")
		b.ReportMetric(median("ribbon")/median("goleveldb"), "ratio")
		if contestants["many"] != nil {
			b.ReportMetric(median("ribbon")/median("many"), "one/many")
		}
	})
}

package policy

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The benchmarks behind figures of the doc comments. Program bench compares filters: lookups,
// builds, rates.

// BenchmarkVerify compares builds with WithVerify to builds without.
//
//	go test ./policy -run '^$' -bench Verify
func BenchmarkVerify(b *testing.B) {
	for _, kind := range allKinds {
		for _, n := range []int{36, 1000, 10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) {
				keys := benchKeys(testkit.Rand(b, 94), max(n, 100_000), 16)
				compareBuilds(b, keys, n, testkit.Must(of(kind, 10)),
					testkit.Must(of(kind, 10, WithVerify())))
			})
		}
	}
}

// compareBuilds reports how many times as long as with one policy it takes with another to build
// filters of n keys each: by turns, the median.
func compareBuilds(b *testing.B, keys [][]byte, n int, one, other *Policy) {
	var filter []byte
	build := func(builder Builder) float64 {
		start := time.Now()
		for part := range slices.Chunk(keys, n) {
			for _, key := range part {
				builder.Add(key)
			}
			filter = builder.Finish(filter[:0])
		}
		return time.Since(start).Seconds()
	}
	builder, compared := one.NewBuilder(), other.NewBuilder()
	build(builder) // memory grows
	build(compared)
	var ratios []float64
	for range max(5, b.N) {
		before := build(builder)
		ratios = append(ratios, build(compared)/before)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "times")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBuildMemory reports the memory that it takes to build a filter, with the filter, while
// there is nothing to use again: all that is allocated, none of which is freed before the end.
//
//	go test ./policy -run '^$' -bench BuildMemory -benchtime 1x
func BenchmarkBuildMemory(b *testing.B) {
	for _, kind := range allKinds {
		for _, n := range []int{32, 10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) {
				keys := benchKeys(testkit.Rand(b, 53), n, 16)
				total := uint64(0)
				for range b.N {
					heapInUse()
					heapInUse() // a sync.Pool keeps for one collection what it had before
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					builder := testkit.Must(of(kind, 10)).NewBuilder()
					for _, key := range keys {
						builder.Add(key)
					}
					filter := builder.Finish(nil)
					runtime.ReadMemStats(&after)
					runtime.KeepAlive(filter)
					total += after.TotalAlloc - before.TotalAlloc
				}
				b.ReportMetric(float64(total)/float64(b.N)/float64(n), "B/key")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// benchKeys returns n random keys of a length, side by side in memory.
func benchKeys(rng *rand.Rand, n, length int) [][]byte {
	memory := make([]byte, n*length)
	rng.Read(memory)
	keys := make([][]byte, n)
	for i := range keys {
		keys[i], memory = memory[:length:length], memory[length:]
	}
	return keys
}

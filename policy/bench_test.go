package policy

import (
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The benchmarks behind figures of the doc comments. Program bench compares filters: lookups,
// builds, rates.

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

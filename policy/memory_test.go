package policy

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// buildMemory returns how many bytes it takes to build a filter of keys while nothing is there that could be used again: all that
// is allocated, none of which is freed before the end.
func buildMemory(p Policy, keys [][]byte) uint64 {
	runtime.GC()
	runtime.GC() // a sync.Pool keeps for one collection what it had before
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	builder := p.NewBuilder()
	for _, key := range keys {
		builder.Add(key)
	}
	filter := builder.Finish(nil)
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(filter)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkBuildMemory reports the memory that building takes per key, with the filter:
//
//	go test ./policy -run '^$' -bench BuildMemory -benchtime 1x
func BenchmarkBuildMemory(b *testing.B) {
	for _, p := range []struct {
		name   string
		policy Policy
	}{{"exact/bpk=10", policytest.Must(NewBloom(10))}, {"blocked/bpk=10", policytest.Must(NewBlockedBloom(10))}} {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/n=%s", p.name, size.name), func(b *testing.B) {
				keys := benchKeys(policytest.Rand(b, 53), size.n, 16)
				total := uint64(0)
				for range b.N {
					total += buildMemory(p.policy, keys)
				}
				b.ReportMetric(float64(total)/float64(b.N)/float64(size.n), "B/key")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

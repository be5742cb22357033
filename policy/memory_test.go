package policy

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// heapInUse returns the bytes in use after a collection. What a sync.Pool had at the collection
// before the last one is gone.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// After a filter of many keys the pools keep little, and the builder nothing.
func TestMemoryKept(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop what it is given")
	}
	const n = 3_000_000 // 12 MB of hashes of 32 bits, 24 MB of 64
	forEachPolicy(t, func(t *testing.T, p ourPolicy) {
		heapInUse()
		before := heapInUse()
		builder := p.NewBuilder()
		var key [8]byte
		for i := range n {
			key[0], key[1], key[2] = byte(i), byte(i>>8), byte(i>>16)
			builder.Add(key[:])
		}
		builder.Finish(nil)
		kept := heapInUse() - before
		require.Less(t, kept, int64(640<<10), "bytes in the pool and in the builder")
		runtime.KeepAlive(builder)
	})
}

// BenchmarkBuildMemory reports the memory that it takes to build a filter, with the filter, while
// there is nothing to use again: all that is allocated, none of which is freed before the end.
//
//	go test ./policy -run '^$' -bench BuildMemory -benchtime 1x
func BenchmarkBuildMemory(b *testing.B) {
	for _, p := range []struct {
		name   string
		policy Policy
	}{
		{"exact/bpk=10", policytest.Must(NewBloom(10))},
		{"ribbon/bpk=10", policytest.Must(NewRibbon(10))},
	} {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/n=%s", p.name, size.name), func(b *testing.B) {
				keys := benchKeys(policytest.Rand(b, 53), size.n, 16)
				total := uint64(0)
				for range b.N {
					heapInUse()
					heapInUse() // a sync.Pool keeps for one collection what it had before
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					builder := p.policy.NewBuilder()
					for _, key := range keys {
						builder.Add(key)
					}
					filter := builder.Finish(nil)
					runtime.ReadMemStats(&after)
					runtime.KeepAlive(filter)
					total += after.TotalAlloc - before.TotalAlloc
				}
				b.ReportMetric(float64(total)/float64(b.N)/float64(size.n), "B/key")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

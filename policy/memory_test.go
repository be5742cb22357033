package policy

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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
	}{{"exact/bpk=10", mustBloom(b, 10)}, {"blocked/bpk=10", mustBlocked(b, 10)}, {"fuse/bpk=12", mustFuse(b, 12)}, {"fuse/bpk=19", mustFuse(b, 19)}} {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/n=%s", p.name, size.name), func(b *testing.B) {
				keys := benchKeys(seeded(b, 53), size.n, 16)
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

// What NewBinaryFuse says of memory, also where Size makes the filter, and Finish copies it.
func TestFuseMemory(t *testing.T) {
	for _, n := range []int{32, 930, 1_600, 5_300, 20_000, 300_000} {
		keys := benchKeys(seeded(t, 54), n, 16)
		for _, bitsPerKey := range []float64{12, 19, 28} {
			for _, p := range []Policy{mustFuse(t, bitsPerKey), sized{mustFuse(t, bitsPerKey)}} {
				require.LessOrEqual(t, buildMemory(p, keys), uint64(55*n+64<<10), "%d keys, %v bits per key", n, bitsPerKey)
			}
		}
	}
}

// sized is a policy whose builders ask for the size before they finish, as engines' adapters do.
type sized struct{ Policy }

func (s sized) NewBuilder() Builder { return sizedBuilder{s.Policy.NewBuilder()} }

type sizedBuilder struct{ Builder }

func (s sizedBuilder) Finish(dst []byte) []byte {
	return s.Builder.Finish(slices.Grow(dst, s.Size()))
}

// The memory of a large filter is not kept for the sake of small ones.
func TestFuseMemoryOfLargeFilters(t *testing.T) {
	p := mustFuse(t, 12)
	keys := benchKeys(seeded(t, 55), 1_000_000, 16)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	runtime.KeepAlive(p.AppendFilter(nil, keys))
	for range 4 {
		runtime.KeepAlive(p.AppendFilter(nil, keys[:20_000]))
		runtime.GC()
	}
	require.Less(t, int64(inUse())-int64(before), int64(4<<20), "bytes; the large filter took %d", 35*len(keys))
	runtime.KeepAlive(keys)
}

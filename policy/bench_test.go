package policy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// The benchmarks behind figures of the doc comments. Program bench compares filters: lookups,
// builds, rates.

// BenchmarkVerify builds with WithVerify and without.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range kinds {
		for _, n := range []int{36, 1000, 10_000, 1_000_000} {
			keys := benchKeys(policytest.Rand(b, 94), n, 16)
			for name, opts := range map[string][]Option{"plain": nil, "verified": {WithVerify()}} {
				b.Run(fmt.Sprintf("%s/n=%d/%s", kind, n, name), func(b *testing.B) {
					builder := policytest.Must(of(kind, 10, opts...)).NewBuilder()
					var filter []byte
					perKey(b, n, func() {
						for _, key := range keys {
							builder.Add(key)
						}
						filter = builder.Finish(filter[:0])
					})
				})
			}
		}
	}
}

// BenchmarkTuning builds filters with tuning and without: of random keys, and of numbers of which
// 63 % or 10 % are present.
func BenchmarkTuning(b *testing.B) {
	decimal := func(i uint64) []byte { return fmt.Appendf(nil, "%016d", i) }
	bigEndian := func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }
	for _, c := range []struct {
		name    string
		key     func(i uint64) []byte
		density float64
	}{
		{"random", nil, 0}, {"decimal", decimal, 0.63}, {"decimal", decimal, 0.1},
		{"bigendian", bigEndian, 0.63}, {"bigendian", bigEndian, 0.1},
	} {
		for _, n := range []int{20, 36, 100, 500, 10_000} {
			rng := policytest.Rand(b, int64(n))
			keys := benchKeys(rng, 100_000, 16) // of 10 filters or more
			for i, number := 0, uint64(0); c.key != nil && i < len(keys); number++ {
				if rng.Float64() < c.density {
					keys[i] = c.key(number)
					i++
				}
			}
			slices.SortFunc(keys, bytes.Compare)
			for _, spec := range []string{"bloom:10", "tuned:10"} {
				b.Run(fmt.Sprintf("%s-%v/n=%d/%s", c.name, c.density, n, spec), func(b *testing.B) {
					builder := policytest.Must(FromString(spec)).NewBuilder()
					var filter []byte
					first := 0
					perKey(b, n, func() {
						for _, key := range keys[first : first+n] {
							builder.Add(key)
						}
						filter = builder.Finish(filter[:0])
						first = (first + n) % (len(keys) - n)
					})
				})
			}
		}
	}
}

// BenchmarkBuildMemory reports the memory that it takes to build a filter, with the filter, while
// there is nothing to use again: all that is allocated, none of which is freed before the end.
//
//	go test ./policy -run '^$' -bench BuildMemory -benchtime 1x
func BenchmarkBuildMemory(b *testing.B) {
	for _, kind := range kinds {
		for _, n := range []int{32, 10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) {
				keys := benchKeys(policytest.Rand(b, 53), n, 16)
				total := uint64(0)
				for range b.N {
					heapInUse()
					heapInUse() // a sync.Pool keeps for one collection what it had before
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					builder := policytest.Must(of(kind, 10)).NewBuilder()
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

// perKey runs f, which handles n keys, again and again, and reports the time per key.
func perKey(b *testing.B, n int, f func()) {
	f() // warms the caches and grows the memory
	b.ResetTimer()
	for range b.N {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
	b.ReportMetric(0, "ns/op")
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

package policy

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Every benchmark asks 64k distinct keys, or the keys of a small filter again and again, in random
// order, and reports ns/key. Compare two versions by:
//
//	go test ./policy -run '^$' -bench 'MayContain/|Many|Build' -count 10 | tee new.txt
//	benchstat old.txt new.txt
const benchQueries = 1 << 16

var (
	benchLengths = []int{8, 16, 24, 64, 0} // 0: of 8 to 64 bytes
	benchSizes   = []struct {
		name string
		n    int
	}{{"32", 32}, {"10k", 10_000}, {"1M", 1_000_000}}
	benchFound int // consumes the answers

	// benchPolicy is a variable, so that the compiler calls it as an engine does, through the
	// interface.
	benchPolicy Policy
)

// forEachFilter runs f for every size and key length, as a benchmark of that name.
func forEachFilter(b *testing.B, f func(b *testing.B, rng *rand.Rand, present [][]byte, length int)) {
	for _, size := range benchSizes {
		for _, length := range benchLengths {
			name := fmt.Sprintf("bpk=10/len=%d/n=%s", length, size.name)
			if length == 0 {
				name = fmt.Sprintf("bpk=10/len=8-64/n=%s", size.name)
			}
			b.Run(name, func(b *testing.B) {
				rng := policytest.Rand(b, 50)
				f(b, rng, benchKeys(rng, size.n, length), length)
			})
		}
	}
}

// forEachQuery also runs f for keys that are absent, present, or half of each.
func forEachQuery(b *testing.B, f func(b *testing.B, filter []byte, queries [][]byte)) {
	forEachFilter(b, func(b *testing.B, rng *rand.Rand, present [][]byte, length int) {
		filter := policytest.Must(NewBloom(10)).AppendFilter(nil, present)
		absent := benchKeys(rng, benchQueries, length)
		for _, work := range []struct {
			name  string
			share float64 // of present keys
		}{{"miss", 0}, {"hit", 1}, {"half", 0.5}} {
			order := rng.Perm(max(len(present), benchQueries))
			queries := make([][]byte, benchQueries)
			for i := range queries {
				queries[i] = absent[i]
				if rng.Float64() < work.share {
					queries[i] = present[order[i]%len(present)]
				}
			}
			queries = sideBySide(queries)
			b.Run(work.name, func(b *testing.B) { f(b, filter, queries) })
		}
	})
}

func BenchmarkMayContain(b *testing.B) {
	benchPolicy = policytest.Must(NewBloom(10))
	forEachQuery(b, func(b *testing.B, filter []byte, queries [][]byte) {
		perKey(b, len(queries), func() {
			for _, key := range queries {
				if benchPolicy.MayContain(filter, key) {
					benchFound++
				}
			}
		})
	})
}

func BenchmarkMayContainMany(b *testing.B) {
	out := make([]bool, benchQueries)
	forEachQuery(b, func(b *testing.B, filter []byte, queries [][]byte) {
		perKey(b, len(queries), func() { MayContainMany(filter, queries, out) })
	})
}

// BenchmarkGroups asks for a few keys at once, alone and by MayContainMany.
func BenchmarkGroups(b *testing.B) {
	rng := policytest.Rand(b, 52)
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, benchKeys(rng, 10_000, 16))
	queries := benchKeys(rng, benchQueries, 16)
	out := make([]bool, 64)
	for _, n := range []int{1, 4, 8, 15, 16, 64} {
		b.Run(fmt.Sprintf("keys=%d/alone", n), func(b *testing.B) {
			perKey(b, len(queries), func() {
				for start := 0; start < len(queries); start += n {
					for i, key := range queries[start:min(start+n, len(queries))] {
						out[i] = MayContain(filter, key)
					}
				}
			})
		})
		b.Run(fmt.Sprintf("keys=%d/many", n), func(b *testing.B) {
			perKey(b, len(queries), func() {
				for start := 0; start < len(queries); start += n {
					MayContainMany(filter, queries[start:min(start+n, len(queries))], out)
				}
			})
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	benchPolicy = policytest.Must(NewBloom(10))
	forEachFilter(b, func(b *testing.B, _ *rand.Rand, keys [][]byte, _ int) {
		builder := benchPolicy.NewBuilder()
		var filter []byte
		perKey(b, len(keys), func() {
			for _, key := range keys {
				builder.Add(key)
			}
			filter = builder.Finish(filter[:0])
		})
	})
}

func BenchmarkAppendFilter(b *testing.B) {
	bloom := policytest.Must(NewBloom(10))
	forEachFilter(b, func(b *testing.B, _ *rand.Rand, keys [][]byte, _ int) {
		var filter []byte
		perKey(b, len(keys), func() { filter = bloom.AppendFilter(filter[:0], keys) })
	})
}

// BenchmarkParallel shows that readers of one filter do not slow each other down: with -cpu 1,2,4
// the time per key, of all readers together, goes down as their number goes up.
func BenchmarkParallel(b *testing.B) {
	rng := policytest.Rand(b, 51)
	benchPolicy = policytest.Must(NewBloom(10))
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, benchKeys(rng, 10_000, 16))
	queries := benchKeys(rng, benchQueries, 16)
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.Int(); pb.Next(); i++ {
			benchPolicy.MayContain(filter, queries[i%benchQueries])
		}
	})
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

// benchKeys returns n random keys, side by side in memory, of the given length; or of 8 to 64 bytes
// if that is 0.
func benchKeys(rng *rand.Rand, n, length int) [][]byte {
	memory := make([]byte, 64*n)
	rng.Read(memory)
	keys := make([][]byte, n)
	for i := range keys {
		l := length
		if l == 0 {
			l = 8 + rng.Intn(57)
		}
		keys[i], memory = memory[:l:l], memory[l:]
	}
	return keys
}

// sideBySide returns copies of the keys, one after the other in memory.
func sideBySide(keys [][]byte) [][]byte {
	memory := bytes.Join(keys, nil)
	copies := make([][]byte, len(keys))
	for i, key := range keys {
		copies[i], memory = memory[:len(key):len(key)], memory[len(key):]
	}
	return copies
}

package policy

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// A ribbonQueries is filters and keys: key i is for filter i.
type ribbonQueries struct{ ribbon, builtin, keys [][]byte }

// BenchmarkRibbonAgainst compares ribbon filters with goleveldb's own filters of 10 bits per key.
// Both take turns in slices of a few milliseconds; it reports the fastest quartiles in ns per key,
// and how often goleveldb's time ribbon takes:
//
//	go test ./policy -run '^$' -bench RibbonAgainst -benchtime 1x
//
// There are as many filters as make 65,536 keys or, with all=200MiB, 200 MiB.
func BenchmarkRibbonAgainst(b *testing.B) {
	for _, length := range []int{16, 64} {
		for _, n := range []int{36, 64, 250, 1000, 10_000, 1_000_000} {
			benchRibbon(b, fmt.Sprintf("len=%d/n=%d", length, n), length, n, max(1, 65536/n))
		}
	}
	benchRibbon(b, "len=16/all=200MiB", 16, 10_000, 200<<20/12_500)
}

func benchRibbon(b *testing.B, name string, length, n, filters int) {
	ribbon, err := NewRibbon(10)
	if err != nil {
		b.Fatal(err)
	}
	builtin := filter.NewBloomFilter(10)
	rng := policytest.Rand(b, 60)
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
	b.Run(name, func(b *testing.B) {
		var all, keys, misses ribbonQueries
		var sets [][][]byte
		for i := range filters {
			if n*len(sets) > 1<<20 { // copies do as well
				all.add(&all, i%len(sets), nil)
				all.ribbon[i], all.builtin[i] = slices.Clone(all.ribbon[i]), slices.Clone(all.builtin[i])
				continue
			}
			set := randomKeys(rng, n, length)
			all.ribbon = append(all.ribbon, ribbon.AppendFilter(nil, set))
			all.builtin = append(all.builtin, slices.Clone(buildTheirs(set)))
			sets = append(sets, set)
		}
		absent := randomKeys(rng, benchQueries, length)
		for i := range benchQueries {
			f := rng.Intn(filters)
			misses.add(&all, f, absent[i])
			keys.add(&all, f, slices.Clone(sets[f%len(sets)][rng.Intn(n)]))
		}
		for _, q := range []struct {
			name string
			ribbonQueries
		}{{"hit", keys}, {"miss", misses}} {
			from := 0
			next := func() { from = (from + 4096) % benchQueries }
			out := make([]bool, benchQueries)
			contestants := map[string]func(){
				"ribbon": func() {
					next()
					for i := from; i < from+4096; i++ {
						if ribbon.MayContain(q.ribbon[i], q.keys[i]) {
							benchFound++
						}
					}
				},
				"goleveldb": func() {
					next()
					for i := from; i < from+4096; i++ {
						if builtin.Contains(q.builtin[i], q.keys[i]) {
							benchFound++
						}
					}
				},
				"many": func() {
					next()
					for i := from; i < from+4096; i += 128 {
						ribbon.MayContainMany(q.ribbon[0], q.keys[i:i+128], out)
					}
				},
				"one": func() { // by one, of the same filter
					next()
					for i := from; i < from+4096; i++ {
						out[i] = ribbon.MayContain(q.ribbon[0], q.keys[i])
					}
				},
			}
			compare(b, q.name, 4096, contestants)
		}
		builder := ribbon.NewBuilder()
		var dst []byte
		one := 0
		compare(b, "build", n*max(1, 10_000/n), map[string]func(){
			"ribbon": func() {
				for range max(1, 10_000/n) {
					one = (one + 1) % len(sets)
					for _, key := range sets[one] {
						builder.Add(key)
					}
					dst = builder.Finish(dst[:0])
				}
			},
			"goleveldb": func() {
				for range max(1, 10_000/n) {
					one = (one + 1) % len(sets)
					buildTheirs(sets[one])
				}
			},
		})
	})
}

func (q *ribbonQueries) add(from *ribbonQueries, filter int, key []byte) {
	q.ribbon = append(q.ribbon, from.ribbon[filter])
	q.builtin = append(q.builtin, from.builtin[filter])
	q.keys = append(q.keys, key)
}

func randomKeys(rng *rand.Rand, n, length int) [][]byte {
	memory := make([]byte, n*length)
	rng.Read(memory)
	keys := make([][]byte, n)
	for i := range keys {
		keys[i], memory = memory[:length:length], memory[length:]
	}
	return keys
}

// compare runs the functions, which each handle n keys, in turn, and reports their times.
func compare(b *testing.B, name string, n int, contestants map[string]func()) {
	b.Run(name, func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		taken := map[string][]time.Duration{}
		end := time.Now().Add(300 * time.Millisecond)
		for rounds := 0; rounds < 12 || time.Now().Before(end); rounds++ {
			for _, c := range []string{"goleveldb", "ribbon", "many", "one"} {
				if f := contestants[c]; f != nil {
					start := threadTime()
					f()
					taken[c] = append(taken[c], threadTime()-start)
				}
			}
		}
		time := func(c string) float64 {
			slices.Sort(taken[c])
			return float64(taken[c][len(taken[c])/4].Nanoseconds()) / float64(n)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(time("goleveldb"), "goleveldb-ns")
		b.ReportMetric(time("ribbon"), "ribbon-ns")
		b.ReportMetric(time("ribbon")/time("goleveldb"), "ratio")
		if contestants["many"] != nil {
			b.ReportMetric(time("one")/time("many"), "one/many")
		}
	})
}

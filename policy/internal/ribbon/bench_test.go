package ribbon

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
	"github.com/zeebo/xxh3"
)

// BenchmarkAgainst compares ribbon filters with goleveldb's own ones of 10 bits per key. Both take
// turns of a few milliseconds, with the time that XXH3 takes for the keys; it reports the fastest
// tenth of each in ns per key, and goleveldb's time divided by ribbon's:
//
//	go test ./policy/internal/ribbon -run '^$' -bench Against -benchtime 1x
//
// There are as many filters as make 65,536 keys or, with all=200MiB, 200 MiB. Keys are asked for in
// random order.
func BenchmarkAgainst(b *testing.B) {
	for _, c := range []struct{ length, n, filters int }{
		{16, 10, 0}, {16, 20, 0}, {16, 36, 0}, {16, 64, 0}, {16, 100, 0}, {16, 200, 0}, {16, 300, 0},
		{16, 500, 0}, {16, 700, 0}, {16, 1000, 0}, {16, 2000, 0}, {16, 10_000, 0}, {16, 100_000, 0},
		{16, 1_000_000, 0}, {16, 10_000, 200 << 20 / 12_508}, {64, 36, 0}, {64, 500, 0}, {64, 10_000, 0},
	} {
		name := fmt.Sprintf("len=%d/n=%d", c.length, c.n)
		if c.filters > 0 {
			name += "/all=200MiB"
		}
		b.Run(name, func(b *testing.B) {
			newComparison(c.length, c.n, max(1, c.filters, 65_536/c.n)).run(b)
		})
	}
}

const benchmarkQueries = 1 << 17

// A comparison has the same keys in filters of both kinds.
type comparison struct {
	sets          [][][]byte
	ours, theirs  [][]byte // filters
	builder       Builder
	hashes        []uint64
	buffer        util.Buffer
	generator     filter.FilterGenerator
	hits, misses  queries
	found, filled int // keep the compiler from dropping the work
}

type queries struct {
	filters []int
	keys    [][]byte
}

func newComparison(length, n, filters int) *comparison {
	c := &comparison{generator: filter.NewBloomFilter(10).NewGenerator()}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	key := func() []byte {
		key := make([]byte, length)
		for i := 0; i < length; i += 8 {
			binary.LittleEndian.PutUint64(key[i:], rng.Uint64())
		}
		return key
	}
	for i := range filters {
		if i >= 100 && i*n > 1<<20 { // copies of filters do as well
			c.sets = append(c.sets, c.sets[i%100])
			c.ours = append(c.ours, slices.Clone(c.ours[i%100]))
			c.theirs = append(c.theirs, slices.Clone(c.theirs[i%100]))
			continue
		}
		set := make([][]byte, n)
		for j := range set {
			set[j] = key()
		}
		c.sets = append(c.sets, set)
		c.ours = append(c.ours, slices.Clone(c.buildOurs(nil, set)))
		c.theirs = append(c.theirs, slices.Clone(c.buildTheirs(set)))
	}
	for range benchmarkQueries {
		f := rng.IntN(filters)
		c.hits.filters = append(c.hits.filters, f)
		c.hits.keys = append(c.hits.keys, slices.Clone(c.sets[f][rng.IntN(n)]))
		c.misses.filters = append(c.misses.filters, rng.IntN(filters))
		c.misses.keys = append(c.misses.keys, key())
	}
	return c
}

func (c *comparison) buildOurs(dst []byte, keys [][]byte) []byte {
	c.hashes = c.hashes[:0]
	for _, key := range keys {
		c.hashes = append(c.hashes, xxh3.Hash(key))
	}
	dst, ok := c.builder.Build(dst, [][]uint64{c.hashes}, 10)
	if !ok {
		panic("no filter")
	}
	return dst
}

func (c *comparison) buildTheirs(keys [][]byte) []byte {
	for _, key := range keys {
		c.generator.Add(key)
	}
	c.buffer.Reset()
	c.generator.Generate(&c.buffer)
	return c.buffer.Bytes()
}

func (c *comparison) run(b *testing.B) {
	const slice = 4096
	theirs := filter.NewBloomFilter(10)
	ask := func(name string, q queries) {
		from := 0
		next := func() { from = (from + slice) % benchmarkQueries }
		compare(b, name, slice, func() {
			next()
			for i, f := range q.filters[from : from+slice] {
				if Contains(c.ours[f], xxh3.Hash(q.keys[from+i])) {
					c.found++
				}
			}
		}, func() {
			next()
			for i, f := range q.filters[from : from+slice] {
				if theirs.Contains(c.theirs[f], q.keys[from+i]) {
					c.found++
				}
			}
		})
	}
	ask("hit", c.hits)
	ask("miss", c.misses)
	n := len(c.sets[0])
	times := max(1, 10_000/n)
	one := 0
	var dst []byte
	compare(b, "build", n*times, func() {
		for range times {
			one = (one + 1) % len(c.sets)
			dst = c.buildOurs(dst[:0], c.sets[one])
		}
	}, func() {
		for range times {
			one = (one + 1) % len(c.sets)
			c.filled += len(c.buildTheirs(c.sets[one]))
		}
	})
}

// compare runs ours and theirs by turns, which take keys each, and reports the fastest tenth.
func compare(b *testing.B, name string, keys int, ours, theirs func()) {
	var times [2][]float64
	contestants := [2]func(){ours, theirs}
	for start, turn := time.Now(), 0; turn < 40 || time.Since(start) < 400*time.Millisecond; turn++ {
		for i := range contestants {
			i = (i + turn) % 2
			begin := time.Now()
			contestants[i]()
			times[i] = append(times[i], float64(time.Since(begin).Nanoseconds())/float64(keys))
		}
	}
	fastest := func(times []float64) (mean float64) {
		slices.Sort(times)
		tenth := times[:len(times)/10]
		for _, t := range tenth {
			mean += t / float64(len(tenth))
		}
		return mean
	}
	us, them := fastest(times[0]), fastest(times[1])
	b.ReportMetric(us, name+"-ns")
	b.ReportMetric(them/us, name+"-ratio")
}

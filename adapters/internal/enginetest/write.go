package enginetest

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A WayToWrite writes a table of given entries, in memory: with some filter, or without.
type WayToWrite struct {
	Name  string
	Write func(keys, values [][]byte) error
}

// BenchWrites compares ways to write a table of 20,000 keys of 16 random bytes, sorted, and values
// of 100. The ways take turns. For each it reports how many times as fast as the first one it is:
// the ratio of the means of the fastest tenths.
func BenchWrites(b *testing.B, ways []WayToWrite) {
	rng := testkit.Rand(b, 1)
	keys, values := randomBytes(rng, 16), randomBytes(rng, 100)
	slices.SortFunc(keys, bytes.Compare)
	times := make([][]time.Duration, len(ways))
	for range max(b.N, 40) {
		for i, way := range ways {
			start := time.Now()
			require.NoError(b, way.Write(keys, values))
			times[i] = append(times[i], time.Since(start))
		}
	}
	first := fastest(times[0])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(first/float64(len(keys)), ways[0].Name+"-ns/key")
	for i, way := range ways[1:] {
		b.ReportMetric(first/fastest(times[i+1]), way.Name+"-speed")
	}
}

func randomBytes(rng *rand.Rand, size int) [][]byte {
	all := make([][]byte, 20_000)
	for i := range all {
		all[i] = make([]byte, size)
		rng.Read(all[i])
	}
	return all
}

// fastest returns the mean of the fastest tenth, in nanoseconds.
func fastest(times []time.Duration) float64 {
	slices.Sort(times)
	tenth, sum := times[:(len(times)+9)/10], time.Duration(0)
	for _, t := range tenth {
		sum += t
	}
	return float64(sum) / float64(len(tenth))
}

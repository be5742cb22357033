package enginetest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A Renewal is two ways to give a database new filters. All functions close the database.
type Renewal struct {
	// Write writes entries, without filters, and then compacts them if told.
	Write func(dir string, keys, values [][]byte, compacted bool) error

	Copy    func(from, to string) error
	Compact func(dir string) error // all keys

	// Tables counts the tables, and those with new filters.
	Tables func(dir string) (all, renewed int, err error)
}

// BenchCopy compares a copy to a full compaction. The database has 600,000 entries of 16 and 100
// random bytes; a tenth was written after it was last compacted. The ways take turns on the disk of
// temporary files. It reports the median of how many times as fast the copy is, and of the entries
// that it copies. It also reports how many tables in a hundred have new filters after each way, and
// after a full compaction of a database to which nothing was written since the last.
func BenchCopy(b *testing.B, r Renewal) {
	rng := testkit.Rand(b, 1)
	var keys, values [][]byte
	for range 30 {
		keys = append(keys, randomBytes(rng, 16)...)
		values = append(values, randomBytes(rng, 100)...)
	}
	dir, older := b.TempDir(), len(keys)*9/10
	again, former := filepath.Join(dir, "again"), filepath.Join(dir, "former")
	require.NoError(b, r.Write(again, keys[:older], values[:older], true))
	require.NoError(b, os.CopyFS(former, os.DirFS(again)))
	require.NoError(b, r.Write(former, keys[older:], values[older:], false))
	require.NoError(b, r.Compact(again))

	var ratios, speeds []float64
	copied, compacted := filepath.Join(dir, "copied"), filepath.Join(dir, "compacted")
	for i := range max(b.N, 7) {
		require.NoError(b, os.RemoveAll(copied))
		require.NoError(b, os.RemoveAll(compacted))
		require.NoError(b, os.CopyFS(compacted, os.DirFS(former)))
		var seconds [2]float64
		for turn := range seconds {
			start, way := time.Now(), (i+turn)%2
			if way == 0 {
				require.NoError(b, r.Copy(former, copied))
			} else {
				require.NoError(b, r.Compact(compacted))
			}
			seconds[way] = time.Since(start).Seconds()
		}
		ratios = append(ratios, seconds[1]/seconds[0])
		speeds = append(speeds, float64(len(keys)*(16+100))/1e6/seconds[0])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ratios), "copy-speed")
	b.ReportMetric(median(speeds), "copy-MB/s")
	for _, dir := range []string{copied, compacted, again} {
		all, renewed, err := r.Tables(dir)
		require.NoError(b, err)
		b.ReportMetric(100*float64(renewed)/float64(all), filepath.Base(dir)+"-%")
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

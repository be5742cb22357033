package enginetest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A Renewable is an open database, and its copy if there is one.
type Renewable interface {
	Has(key []byte) error
	Put(key, value []byte) error
	Renew(way string) error               // in one of the ways of BenchRewrite
	Bytes() (read, written, disk float64) // since it was opened, and now
	Close() (filters float64)             // how many tables have some, in percent
}

// BenchRewrite compares ways to give filters to a database of keys that take 216 bytes each. If way
// is "", open opens it without filters, and Close compacts it; if it is "second rewrite", open
// rewrites it. The metrics are what is read, written, and on disk at the peak, per byte of the
// database; the tables with filters; and, of some 900 calls a second, the 99th percentile of the
// times, relative to ten seconds before. Half are lookups, half of them of absent keys, and half are
// writes, unless the way is "idle compact".
func BenchRewrite(b *testing.B, keys int, open func(dir, way string) Renewable) {
	key := func(i int) []byte { return fmt.Appendf(nil, "%016x", uint64(i)*0x9e3779b97f4a7c15) }
	former, rng := b.TempDir(), testkit.Rand(b, 1)
	db, values := open(former, ""), randomBytes(rng, 200)
	for i := range keys {
		require.NoError(b, db.Put(key(i), values[i%len(values)]))
	}
	db.Close()
	for _, way := range []string{"copy", "rewrite", "second rewrite", "compact", "idle compact"} {
		b.Run(way, func(b *testing.B) {
			dir, peak := b.TempDir(), 0.0
			require.NoError(b, os.CopyFS(dir, os.DirFS(former)))
			db := open(dir, way)
			p99 := func(work func() error) float64 { // of the calls meanwhile
				var times []float64
				done := make(chan error, 1)
				go func() { done <- work() }()
				for times == nil || len(done) == 0 {
					start := time.Now()
					if way == "idle compact" || rng.Intn(2) == 0 {
						require.NoError(b, db.Has(key(rng.Intn(2*keys))))
					} else {
						require.NoError(b, db.Put(key(2*keys+rng.Intn(1<<30)), values[0]))
					}
					times = append(times, time.Since(start).Seconds())
					if len(times)%50 == 1 {
						_, _, disk := db.Bytes()
						peak = max(peak, disk)
					}
					time.Sleep(time.Millisecond)
				}
				require.NoError(b, <-done)
				slices.Sort(times)
				return times[len(times)*99/100]
			}
			before := p99(func() error { time.Sleep(10 * time.Second); return nil })
			read, written, size := db.Bytes()
			start := time.Now()
			b.ReportMetric(p99(func() error { return db.Renew(way) })/before, "p99")
			b.ReportMetric(time.Since(start).Seconds(), "s")
			reads, writes, _ := db.Bytes()
			b.ReportMetric((reads-read)/size, "read")
			b.ReportMetric((writes-written)/size, "written")
			b.ReportMetric(peak/size, "disk")
			b.ReportMetric(db.Close(), "filters-%")
			b.ReportMetric(0, "ns/op")
		})
	}
}

package pebblev2_test

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// Readers find every key that was written while tables and their filters come and go under them.
func TestConcurrentUse(t *testing.T) {
	const writers, readers = 2, 2
	n := 8000
	if testing.Short() {
		n = 2000
	}
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			rng := seeded(t, 60)
			keys := randomKeys(rng, n)
			s := &spy{Policy: bloom(t, 10)}
			o := configured(t, small(format), s, pebblev2.WithL6())
			o.MemTableSize = 64 << 10
			o.MaxOpenFiles = 50
			db := open(t, t.TempDir(), o)

			var writing, others sync.WaitGroup
			var written [writers]atomic.Int64 // writer w has written keys[w], keys[w+writers], ... so many of them
			var done atomic.Bool
			for w := range writers {
				writing.Add(1)
				go func() {
					defer writing.Done()
					for i := w; i < n; i += writers {
						if err := db.Set(keys[i], value(keys[i]), pebble.NoSync); err != nil {
							t.Errorf("Set: %v", err)
							return
						}
						written[w].Add(1)
					}
				}()
			}
			during := func(f func()) {
				others.Add(1)
				go func() {
					defer others.Done()
					for !done.Load() {
						f()
					}
				}()
			}
			for r := range readers {
				rng := rand.New(rand.NewSource(rng.Int63()))
				during(func() {
					var sample [][]byte
					for range 20 {
						w := rng.Intn(writers)
						if m := written[w].Load(); m > 0 {
							sample = append(sample, keys[w+writers*rng.Intn(int(m))])
						}
					}
					lost := lostByGet
					if r%2 == 1 {
						lost = lostBySeek
					}
					if n := lost(t, db, sample); n > 0 {
						t.Errorf("%d of %d keys lost", n, len(sample))
					}
				})
			}
			during(func() {
				if err := db.Flush(); err != nil {
					t.Errorf("Flush: %v", err)
				}
			})
			during(func() { compact(t, db) })
			writing.Wait()
			done.Store(true)
			others.Wait()

			require.NoError(t, db.Flush())
			require.Zero(t, lostByGet(t, db, keys))
			require.Zero(t, lostBySeek(t, db, keys))
			m := db.Metrics()
			require.Positive(t, m.Flush.Count)
			require.Positive(t, m.Compact.Count)
			require.Positive(t, s.asked.Load())
			require.Positive(t, s.absent.Load())
			require.NoError(t, db.Close())
		})
	}
}

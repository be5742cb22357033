package pebblev1_test

import (
	"bytes"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// Readers find every key that was written while tables and their filters come and go under them.
func TestConcurrentUse(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String()+", exact", func(t *testing.T) {
			o := small(format)
			o.MemTableSize = 64 << 10
			useConcurrently(t, o, 6000, bloom(t, 10), 6)
		})
		t.Run(format.String()+", binary fuse", func(t *testing.T) {
			o := large(small(format))
			o.MemTableSize = 256 << 10
			useConcurrently(t, o, 9000, fuse(t, 11.6), fuseEncoding)
		})
	}
}

// useConcurrently writes n keys, and requires that filters are asked meanwhile that end with last.
func useConcurrently(t *testing.T, o *pebble.Options, n int, p policy.Policy, last byte) {
	const writers, readers = 2, 2
	if testing.Short() {
		n /= 3
	}
	rng := seeded(t, 60)
	keys := randomKeys(rng, n+500)
	keys, absent := keys[:n], keys[n:]
	var asked atomic.Int64
	s := &spy{Policy: p, saw: func(filter, _ []byte) {
		if len(filter) > 0 && filter[len(filter)-1] == last {
			asked.Add(1)
		}
	}}
	o.MaxOpenFiles = 50
	db := open(t, t.TempDir(), configured(t, o, s, pebblev1.WithL6()))

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
	require.Eventually(t, func() bool { return asked.Load() > 0 }, time.Minute, time.Millisecond)
	done.Store(true)
	others.Wait()

	require.NoError(t, db.Flush())
	require.Zero(t, lostByGet(t, db, keys))
	require.Zero(t, lostBySeek(t, db, keys))
	require.Equal(t, len(absent), lostBySeek(t, db, absent))
	m := db.Metrics()
	require.Positive(t, m.Flush.Count)
	require.Positive(t, m.Compact.Count)
	require.Positive(t, s.absent.Load())
	require.NoError(t, db.Close())
}

// Filters that are made side by side are those that each writer would make alone, though builders share memory.
func TestWritersSideBySide(t *testing.T) {
	rng := seeded(t, 61)
	type made struct {
		policy policy.Policy
		keys   [][]byte
		want   []byte
	}
	var all []made
	for range 10 {
		for _, p := range eachEncoding(t) {
			keys := randomKeys(rng, rng.Intn(5000))
			all = append(all, made{p, keys, p.AppendFilter(nil, keys)})
		}
	}
	var working sync.WaitGroup
	for range 16 { // goroutines on one processor interrupt each other
		order := slices.Concat(rng.Perm(len(all)), rng.Perm(len(all)))
		working.Add(1)
		go func() {
			defer working.Done()
			for _, i := range order {
				f := pebblev1.New(all[i].policy)
				w := f.NewWriter(pebble.TableFilter)
				for _, key := range all[i].keys {
					w.AddKey(key)
				}
				got := w.Finish(nil)
				if !bytes.Equal(all[i].want, got) {
					t.Errorf("%T, %d keys: another filter than alone", all[i].policy, len(all[i].keys))
				}
				for _, key := range all[i].keys {
					if !f.MayContain(pebble.TableFilter, got, key) {
						t.Errorf("%T, %d keys: one is lost", all[i].policy, len(all[i].keys))
						break
					}
				}
			}
		}()
	}
	working.Wait()
}

package enginetest

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Readers find every key that was written while tables and their filters come and go.
func testConcurrency(t *testing.T, newEngine func(testing.TB) Engine) {
	for i, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			e := newEngine(t)
			variant := i % len(e.Variants())
			useConcurrently(t, e, variant, kind)
		})
	}
}

func useConcurrently(t *testing.T, e Engine, variant int, kind Kind) {
	const writers, readers = 2, 2
	n := 3000
	if testing.Short() {
		n /= 3
	}
	rng := policytest.Rand(t, 5)
	all := policytest.Keys(rng, n+500)
	keys, absent := all[:n], all[n:]
	var watch Watch
	p := kind.MustNew(10, policy.Name)
	db := open(t, e, Setting{Variant: variant, Policies: []policy.Policy{p}, Watch: &watch})

	var writing, others sync.WaitGroup
	var written [writers]atomic.Int64 // by writer w, of keys[w], keys[w+writers], ...
	var done atomic.Bool
	for w := range writers {
		writing.Add(1)
		go func() {
			defer writing.Done()
			for i := w; i < n; i += writers {
				if err := db.Apply(0, []Change{{keys[i], value(keys[i])}}); err != nil {
					t.Errorf("Apply: %v", err)
					return
				}
				written[w].Add(1)
			}
		}()
	}
	during := func(f func() error) {
		others.Add(1)
		go func() {
			defer others.Done()
			for !done.Load() && !t.Failed() {
				if err := f(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range readers {
		rng := rand.New(rand.NewSource(rng.Int63()))
		during(func() error {
			w := rng.Intn(writers)
			m := written[w].Load()
			if m == 0 {
				return nil
			}
			key := keys[w+writers*rng.Intn(int(m))]
			got, err := db.Get(key)
			if err == nil && !bytes.Equal(got, value(key)) {
				t.Errorf("Get of key %x: %x", key, got)
			}
			got, err1 := db.Find(key)
			if err1 == nil && !bytes.Equal(got, value(key)) {
				t.Errorf("Find of key %x: %x", key, got)
			}
			found, err2 := db.Seek(key)
			if err2 == nil && (len(found) == 0 || found[0].Key != string(key)) {
				t.Errorf("Seek of key %x: %v", key, found)
			}
			return errors.Join(err, err1, err2)
		})
	}
	asked := uint64(0)
	during(func() error {
		time.Sleep(time.Millisecond)
		return db.Flush()
	})
	during(func() error {
		time.Sleep(time.Millisecond)
		return db.Compact()
	})
	writing.Wait()
	label := Label{policy.Name, kind.Encoding}
	require.Eventually(t, func() bool { asked += watch.Take()[label].MayContain; return asked > 0 },
		time.Minute, time.Millisecond)
	done.Store(true)
	others.Wait()

	require.NoError(t, db.Flush())
	requireFound(t, db, keys)
	requireAbsent(t, db, absent)
	require.Positive(t, watch.Take()[label].ReadsAvoided)
	require.NoError(t, db.Close())
}

// Filters that are built concurrently are those that each builder would build alone, although
// builders share memory.
func testBuilders(t *testing.T, newEngine func(testing.TB) Engine) {
	e := newEngine(t)
	rng := policytest.Rand(t, 6)
	type built struct {
		policy policy.Policy
		keys   [][]byte
		filter []byte
	}
	var all []built
	for range 5 {
		for _, kind := range Kinds {
			p := kind.MustNew(2+20*rng.Float64(), policy.Name)
			keys := policytest.Keys(rng, rng.Intn(5000))
			b := p.NewBuilder()
			for _, key := range keys {
				b.Add(key)
			}
			all = append(all, built{p, keys, b.Finish(nil)})
		}
	}
	var working sync.WaitGroup
	for range 8 { // goroutines on one processor interrupt each other
		order := slices.Concat(rng.Perm(len(all)), rng.Perm(len(all)))
		working.Add(1)
		go func() {
			defer working.Done()
			for _, i := range order {
				build, mayContain := e.New(all[i].policy)
				filter := build(all[i].keys)
				if !bytes.Equal(all[i].filter, filter) {
					t.Errorf("%T, %d keys: another filter than alone",
						all[i].policy, len(all[i].keys))
				}
				for _, key := range all[i].keys {
					if !mayContain(filter, key) {
						t.Errorf("%T, %d keys: lost key %x", all[i].policy, len(all[i].keys), key)
						break
					}
				}
			}
		}()
	}
	working.Wait()
}

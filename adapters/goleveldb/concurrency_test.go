package goleveldb_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// Readers, writers, flushes and compactions at once: a key that was written is found. The race detector watches.
func TestConcurrency(t *testing.T) {
	large := smallTables() // of as many keys as binary fuse filters take
	large.WriteBuffer, large.CompactionTableSize, large.FilterBaseLg = 256<<10, 256<<10, 21
	for _, c := range []struct {
		name    string
		p       policy.Policy
		options *opt.Options
		last    byte // of a filter that is asked
	}{
		{"exact", bloom(t, 10), smallTables(), 6},
		{"binary fuse", fuse(t, 11.6), large, fuseEncoding},
	} {
		t.Run(c.name, func(t *testing.T) { testConcurrency(t, c.p, c.options, c.last) })
	}
}

func testConcurrency(t *testing.T, p policy.Policy, o *opt.Options, last byte) {
	duration := 750 * time.Millisecond
	if testing.Short() {
		duration = 300 * time.Millisecond
	}
	dir := t.TempDir()
	asked := &spy{Policy: p}
	db := open(t, dir, configured(t, o, asked))

	key := func(writer int, i int64) []byte {
		return []byte(fmt.Sprintf("writer%d-%08d", writer, i*7919%100_000_000))
	}
	value := func(writer int, i int64) string { return fmt.Sprintf("value %d of %d", i, writer) }
	var written [2]atomic.Int64 // keys that each writer has written
	for w := range written {
		for i := range int64(2000) { // however slow the machine is
			require.NoError(t, db.Put(key(w, i), []byte(value(w, i)), nil))
		}
		written[w].Store(2000)
	}

	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	var wg sync.WaitGroup
	failures := make(chan error, 10)
	work := func(step func() error) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil {
				if err := step(); err != nil {
					failures <- err
					return
				}
			}
		}()
	}

	for w := range written {
		work(func() error {
			i := written[w].Load()
			err := db.Put(key(w, i), []byte(value(w, i)), nil)
			written[w].Store(i + 1)
			return err
		})
	}
	for r := range 3 {
		rng := rand.New(rand.NewSource(int64(r)))
		work(func() error {
			w := rng.Intn(len(written))
			i := rng.Int63n(written[w].Load())
			got, err := db.Get(key(w, i), nil)
			if err != nil || string(got) != value(w, i) {
				return fmt.Errorf("key %q: %q, %v", key(w, i), got, err)
			}
			return nil
		})
	}
	work(func() error { return db.CompactRange(util.Range{}) })
	wg.Wait()
	close(failures)
	require.NoError(t, <-failures)

	content := entries{}
	for w := range written {
		for i := range written[w].Load() {
			content[string(key(w, i))] = value(w, i)
		}
	}
	require.Zero(t, content.lost(t, db))
	require.Positive(t, asked.asked.Load())
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())

	asked = &spy{Policy: p}
	o = configured(t, &opt.Options{ReadOnly: true}, asked)
	w := watch(o)
	db = open(t, dir, o)
	require.Zero(t, content.lost(t, db))
	require.GreaterOrEqual(t, asked.asked.Load(), int64(len(content)))
	require.Greater(t, w[last].MayContain, uint64(len(content)/2))
	require.NoError(t, db.Close())
}

// Filters that are made side by side are those that each generator would make alone, though builders share memory.
func TestGeneratorsSideBySide(t *testing.T) {
	rng := seeded(t, 70)
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
				f := goleveldb.New(all[i].policy)
				got := generate(f.NewGenerator(), all[i].keys)
				if !bytes.Equal(all[i].want, got) {
					t.Errorf("%T, %d keys: another filter than alone", all[i].policy, len(all[i].keys))
				}
				for _, key := range all[i].keys {
					if !f.Contains(got, key) {
						t.Errorf("%T, %d keys: one is lost", all[i].policy, len(all[i].keys))
						break
					}
				}
			}
		}()
	}
	working.Wait()
}

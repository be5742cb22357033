package goleveldb_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// Readers, writers, flushes and compactions at once: a key that was written is found. The race detector watches.
func TestConcurrency(t *testing.T) {
	duration := 1500 * time.Millisecond
	if testing.Short() {
		duration = 300 * time.Millisecond
	}
	dir := t.TempDir()
	asked := &spy{Policy: bloom(t, 10)}
	db := open(t, dir, configured(t, smallTables(), asked))

	key := func(writer int, i int64) []byte {
		return []byte(fmt.Sprintf("writer%d-%08d", writer, i*7919%100_000_000))
	}
	value := func(writer int, i int64) string { return fmt.Sprintf("value %d of %d", i, writer) }
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

	var written [2]atomic.Int64 // keys that each writer has written
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
			n := written[w].Load()
			if n == 0 {
				return nil
			}
			i := rng.Int63n(n)
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
	require.NotEmpty(t, content)
	require.Zero(t, content.lost(t, db))
	require.Positive(t, asked.asked.Load())
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())

	asked = &spy{Policy: asked.Policy}
	db = openReadOnly(t, dir, asked)
	require.Zero(t, content.lost(t, db))
	require.GreaterOrEqual(t, asked.asked.Load(), int64(len(content)))
	require.NoError(t, db.Close())
}

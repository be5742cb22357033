package ondisk

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// The rate of the absent keys that are made is that of the keys that a program would ask for: of
// keys that were held out of a database of goleveldb with its own filters. They may differ by a
// twentieth of the rate, and by three standard errors.
func TestRatesAreThoseOfHeldOutKeys(t *testing.T) {
	chacha := rand.NewChaCha8([32]byte{1})
	decimal := func(i int) []byte { return fmt.Appendf(nil, "%016d", i) }
	user := func(i int) []byte { return fmt.Appendf(nil, "user%016d", i) }
	counter := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }
	id := func(int) []byte {
		id, err := uuid.NewRandomFromReader(chacha)
		require.NoError(t, err)
		return []byte(id.String())
	}
	for i, c := range []struct {
		name    string
		key     func(i int) []byte
		density float64 // part of the keys that are present
		value   int     // bytes of each value: the larger, the fewer keys in a filter
	}{
		{"decimal", decimal, 0.63, 24}, {"decimal", decimal, 0.63, 100}, {"decimal", decimal, 0.1, 100},
		{"user", user, 0.63, 24}, {"user", user, 0.63, 100}, {"user", user, 0.1, 100},
		{"counter", counter, 0.63, 24}, {"counter", counter, 0.63, 100},
		{"counter", counter, 0.1, 24}, {"counter", counter, 0.1, 100},
		{"UUID", id, 0.63, 24}, {"UUID", id, 0.63, 100},
	} {
		if testing.Short() && i%4 > 0 {
			continue
		}
		t.Run(fmt.Sprintf("%s/%v/%d bytes", c.name, c.density, c.value), func(t *testing.T) {
			const n, seed = 40_000, 1
			rng := rand.New(rand.NewPCG(seed, 0))
			dir := t.TempDir()
			o := &opt.Options{Filter: filter.NewBloomFilter(10), Compression: opt.NoCompression}
			db, err := leveldb.OpenFile(dir, o)
			require.NoError(t, err)
			var held [][]byte
			for i, stored := 0, 0; stored < n; i++ {
				if key := c.key(i); rng.Float64() < c.density {
					require.NoError(t, db.Put(key, make([]byte, c.value), nil))
					stored++
				} else {
					held = append(held, key)
				}
			}
			require.NoError(t, db.Close())
			db, err = leveldb.OpenFile(dir, o) // makes a table of its log
			require.NoError(t, err)
			require.NoError(t, db.Close())
			paths, err := Find(dir)
			require.NoError(t, err)

			asked, passed := askHeldOut(t, paths, held)
			s, err := Describe(context.Background(), paths)
			require.NoError(t, err)
			want, got := passed/asked, s.Between
			t.Logf("held out %.4f of %v, made %.4f of %d", want, asked, got.Rate, got.Asked)
			errors := 3 * math.Sqrt(want*(1-want)*(1/asked+1/float64(got.Asked)))
			require.InDelta(t, want, got.Rate, want/20+errors)
		})
	}
}

// askHeldOut returns how many of the keys lie in a table and are asked for, and how many pass.
func askHeldOut(t *testing.T, paths []string, keys [][]byte) (asked, passed float64) {
	for _, path := range paths {
		table, err := tables.Open(path)
		require.NoError(t, err)
		defer table.Close()
		var own [][]byte
		require.NoError(t, table.Keys(func(_ int, key []byte) error {
			own = append(own, slices.Clone(key))
			return nil
		}))
		f := table.Info().Filters
		for _, key := range keys {
			i := table.Locate(key)
			if i < 0 || bytes.Compare(key, own[0]) < 0 || bytes.Compare(key, own[len(own)-1]) > 0 {
				continue
			}
			asked++
			if f.Reader.MayContain(f.Each[i], key) {
				passed++
			}
		}
	}
	return asked, passed
}

package pebblev1_test

import (
	"bytes"
	"crypto/sha512"
	"errors"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// seeded returns random numbers from a fixed seed, which it prints if the test fails.
func seeded(t testing.TB, seed int64) *rand.Rand {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

// randomKeys returns n different keys of 1 to 24 random bytes. Some have the first 8 bytes of the one before, and half
// of all last bytes are above 0x7f, where Pebble's own filters sign the hash and LevelDB's do not.
func randomKeys(rng *rand.Rand, n int) [][]byte {
	var keys [][]byte
	seen := map[string]bool{}
	for len(keys) < n {
		key := make([]byte, 1+rng.Intn(24))
		rng.Read(key)
		if len(keys) > 0 && rng.Intn(4) == 0 {
			copy(key, keys[len(keys)-1][:min(8, len(keys[len(keys)-1]))])
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// value returns what the tests write under key.
func value(key []byte) []byte {
	sum := sha512.Sum512(key) // does not compress
	return sum[:]
}

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Bloom {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// spy is a policy that counts the questions and the answers "absent".
type spy struct {
	policy.Policy
	lies          bool                     // it answers "absent" always
	saw           func(filter, key []byte) // nil, or called for every question
	asked, absent atomic.Int64
	tried         atomic.Bool // Configure tries it: it neither counts nor lies
}

func (s *spy) try(on bool) { s.tried.Store(on) }

func (s *spy) MayContain(filter, key []byte) bool {
	if s.tried.Load() {
		return s.Policy.MayContain(filter, key)
	}
	answer := s.Policy.MayContain(filter, key) && !s.lies
	s.asked.Add(1)
	if !answer {
		s.absent.Add(1)
	}
	if s.saw != nil {
		s.saw(filter, key)
	}
	return answer
}

// counted is a Pebble policy that counts the questions and the answers "absent".
type counted struct {
	pebble.FilterPolicy
	asked, absent atomic.Int64
}

func (c *counted) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	answer := c.FilterPolicy.MayContain(ftype, filter, key)
	c.asked.Add(1)
	if !answer {
		c.absent.Add(1)
	}
	return answer
}

// countReader counts the questions to the reader that o has for name.
func countReader(t testing.TB, o *pebble.Options, name string) *counted {
	require.NotNil(t, o.Filters[name])
	c := &counted{FilterPolicy: o.Filters[name]}
	o.Filters[name] = c
	return c
}

// configured returns o with p as policy.
func configured(t testing.TB, o *pebble.Options, p policy.Policy, opts ...pebblev1.Option) *pebble.Options {
	if s, ok := p.(interface{ try(bool) }); ok {
		s.try(true)
		defer s.try(false)
	}
	require.NoError(t, pebblev1.Configure(o, p, opts...))
	return o
}

// open opens a database, which the test closes. If it fails before, the database must not go on in the background.
func open(t testing.TB, dir string, o *pebble.Options) *pebble.DB {
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			defer func() { _ = recover() }() // Close panics if the database is closed already
			_ = db.Close()
		}
	})
	return db
}

// put writes keys and brings them to tables.
func put(t testing.TB, db *pebble.DB, keys [][]byte) {
	for _, key := range keys {
		require.NoError(t, db.Set(key, value(key), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
}

// lostByGet returns how many of keys Get does not find. It asks the filters above L6.
func lostByGet(t testing.TB, db *pebble.DB, keys [][]byte) (lost int) {
	for _, key := range keys {
		got, closer, err := db.Get(key)
		if errors.Is(err, pebble.ErrNotFound) {
			lost++
			continue
		}
		require.NoError(t, err)
		require.Equal(t, value(key), got, "value of key %x", key)
		require.NoError(t, closer.Close())
	}
	return lost
}

// lostBySeek returns how many of keys SeekPrefixGE does not find. It asks the filters of all levels.
func lostBySeek(t testing.TB, db *pebble.DB, keys [][]byte) (lost int) {
	iter, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	require.NoError(t, err)
	for _, key := range keys {
		if !iter.SeekPrefixGE(key) || !bytes.Equal(iter.Key(), key) {
			require.NoError(t, iter.Error())
			lost++
			continue
		}
		require.Equal(t, value(key), iter.Value(), "value of key %x", key)
	}
	require.NoError(t, iter.Close())
	return lost
}

// tables returns for every level the names of the filters that its tables have, in order; "" is no filter.
func tables(t testing.TB, db *pebble.DB) [][]string {
	levels, err := db.SSTables(pebble.WithProperties())
	require.NoError(t, err)
	names := make([][]string, len(levels))
	for level, infos := range levels {
		for _, info := range infos {
			names[level] = append(names[level], info.Properties.FilterPolicyName)
		}
		slices.Sort(names[level])
		names[level] = slices.Compact(names[level])
	}
	return names
}

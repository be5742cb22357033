package goleveldb_test

import (
	"math/rand"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
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

// randomKeys returns n different keys of 8 to 40 random bytes.
func randomKeys(rng *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = make([]byte, 8+rng.Intn(33))
		rng.Read(keys[i])
	}
	return keys
}

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Bloom {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// spy is a policy that counts the questions and the answers "absent".
type spy struct {
	policy.Policy
	lies          bool                                  // it answers "absent" always
	saw           func(filter, key []byte, answer bool) // nil, or called for every question
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
		s.saw(filter, key, answer)
	}
	return answer
}

// counted is a filter that counts the questions.
type counted struct {
	filter.Filter
	asked atomic.Int64
}

func (c *counted) Contains(filter, key []byte) bool {
	c.asked.Add(1)
	return c.Filter.Contains(filter, key)
}

// configured returns o, or new options if it is nil, with p as policy.
func configured(t testing.TB, o *opt.Options, p policy.Policy) *opt.Options {
	if o == nil {
		o = &opt.Options{}
	}
	if s, ok := p.(interface{ try(bool) }); ok {
		s.try(true)
		defer s.try(false)
	}
	require.NoError(t, goleveldb.Configure(o, p))
	return o
}

func open(t testing.TB, dir string, o *opt.Options) *leveldb.DB {
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) // for tests that fail; the others close it themselves
	return db
}

// openReadOnly opens with p a database whose entries all lie in tables. Nothing changes them while it is read.
func openReadOnly(t testing.TB, dir string, p policy.Policy) *leveldb.DB {
	return open(t, dir, configured(t, &opt.Options{ReadOnly: true}, p))
}

// entries is the content of a database.
type entries map[string]string

func (e entries) put(t testing.TB, db *leveldb.DB, key, value []byte) {
	require.NoError(t, db.Put(key, value, nil))
	e[string(key)] = string(value)
}

func (e entries) delete(t testing.TB, db *leveldb.DB, key []byte) {
	require.NoError(t, db.Delete(key, nil))
	delete(e, string(key))
}

// lost returns the number of entries that Get does not find. A wrong value fails the test.
func (e entries) lost(t testing.TB, db *leveldb.DB) (n int) {
	for key, value := range e {
		got, err := db.Get([]byte(key), nil)
		if err == leveldb.ErrNotFound {
			n++
			continue
		}
		require.NoError(t, err)
		require.Equal(t, value, string(got), "value of key %x", key)
	}
	return n
}

// tablesPerLevel returns the number of tables in each level.
func tablesPerLevel(t testing.TB, db *leveldb.DB) []int {
	var stats leveldb.DBStats
	require.NoError(t, db.Stats(&stats))
	return stats.LevelTablesCounts
}

// userKey returns the user's part of a key in a database's table.
func userKey(internal []byte) []byte { return internal[:len(internal)-8] }

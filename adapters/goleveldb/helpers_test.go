package goleveldb_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.BloomOption) *policy.Bloom {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// spy is a policy that counts what it is asked and what it answers.
type spy struct {
	policy.Policy
	lies          bool                                  // it answers "absent" always
	saw           func(filter, key []byte, answer bool) // nil, or called for every check
	asked, absent atomic.Int64
}

func (s *spy) spiedOn() policy.Policy { return s.Policy }

func (s *spy) MayContain(filter, key []byte) bool {
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

// configured returns o, or new options if it is nil, with p as policy. A spy reads the filters of
// its policy.
func configured(t testing.TB, o *opt.Options, p policy.Policy) *opt.Options {
	if o == nil {
		o = &opt.Options{}
	}
	s, spies := p.(interface{ spiedOn() policy.Policy })
	if !spies {
		require.NoError(t, goleveldb.Configure(o, p))
		return o
	}
	require.NoError(t, goleveldb.Configure(o, s.spiedOn()))
	o.Filter = spied{o.Filter, goleveldb.New(p)}
	return o
}

// spied is a filter that another one, with a spy, reads.
type spied struct {
	filter.Filter
	reader filter.Filter
}

func (s spied) Contains(filter, key []byte) bool { return s.reader.Contains(filter, key) }

func open(t testing.TB, dir string, o *opt.Options) *leveldb.DB {
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) // for tests that fail; the others close it themselves
	return db
}

// openReadOnly opens a database with p. Its entries must all be in tables, which then do not
// change.
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

// requireContent requires that an iterator and lookups find e, and no more.
func (e entries) requireContent(t testing.TB, db *leveldb.DB) {
	found := entries{}
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		found[string(it.Key())] = string(it.Value())
	}
	require.NoError(t, it.Error())
	require.Equal(t, e, found)
	require.Zero(t, e.lost(t, db))
}

// fillRange writes n keys that begin with prefix to tables, so that the tables of two prefixes do
// not overlap.
func (e entries) fillRange(t testing.TB, db *leveldb.DB, prefix string, n int) {
	for i := range n {
		e.put(t, db, fmt.Appendf(nil, "%s%06d", prefix, i), fmt.Appendf(nil, "value %d", i))
	}
	require.NoError(t, db.CompactRange(*util.BytesPrefix([]byte(prefix))))
}

// between returns absent keys, one after each of the n that fillRange wrote.
func between(prefix string, n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "%s%06d-", prefix, i))
	}
	return keys
}

// requireAbsent requires that a database has none of the keys.
func requireAbsent(t testing.TB, db *leveldb.DB, keys [][]byte) {
	for _, key := range keys {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound, "key %x", key)
	}
}

// renamed is a filter under another name.
type renamed struct {
	filter.Filter
	name string
}

func (r renamed) Name() string { return r.name }

// watch makes w note what all filters of o answer.
func watch(o *opt.Options, w *enginetest.Watch) {
	if o.Filter != nil {
		o.Filter = watched{o.Filter, w}
	}
	for i, f := range o.AltFilters {
		o.AltFilters[i] = watched{f, w}
	}
}

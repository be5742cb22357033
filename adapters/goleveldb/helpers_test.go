package goleveldb_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Bloom {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

func ribbon(t testing.TB) *policy.Ribbon {
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	return p
}

// configured returns o, or new options if it is nil, with p as policy. A spy reads the filters of
// its policy.
func configured(
	t testing.TB, o *opt.Options, p policy.Policy, opts ...goleveldb.Option,
) *opt.Options {
	if o == nil {
		o = &opt.Options{}
	}
	s, spies := p.(*enginetest.Spy)
	if !spies {
		require.NoError(t, goleveldb.Configure(o, p, opts...))
		return o
	}
	require.NoError(t, goleveldb.Configure(o, s.Policy, opts...))
	o.Filter = spied{o.Filter, goleveldb.New(p)}
	return o
}

// spied is a filter that another one, with a spy, reads.
type spied struct {
	filter.Filter
	reader filter.Filter
}

func (s spied) Contains(filter, key []byte) bool { return s.reader.Contains(filter, key) }

// watch makes w note what all filters of o answer.
func watch(o *opt.Options, w *enginetest.Watch) {
	if o.Filter != nil {
		o.Filter = watched{o.Filter, w}
	}
	for i, f := range o.AltFilters {
		o.AltFilters[i] = watched{f, w}
	}
}

// smallTables makes a small database have many tables, and blocks that share a filter.
func smallTables() *opt.Options {
	return &opt.Options{
		NoSync:                        true, // no test needs it, and a sync may take long
		BlockSize:                     1 << 10,
		WriteBuffer:                   32 << 10,
		CompactionTableSize:           16 << 10,
		CompactionTotalSize:           32 << 10,
		CompactionTotalSizeMultiplier: 4,
	}
}

// level0Only keeps every table where a flush puts it.
func level0Only() *opt.Options {
	o := smallTables()
	o.CompactionL0Trigger, o.WriteL0SlowdownTrigger, o.WriteL0PauseTrigger = 1<<20, 1<<20, 1<<20
	o.DisableSeeksCompaction = true
	return o
}

func open(t testing.TB, dir string, o *opt.Options) *leveldb.DB {
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) // for tests that fail; the others close it themselves
	return db
}

// entries is the content of a database.
type entries map[string]string

// contentOf returns what an iterator finds.
func contentOf(t testing.TB, db *leveldb.DB) entries {
	found := entries{}
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		found[string(it.Key())] = string(it.Value())
	}
	require.NoError(t, it.Error())
	return found
}

// keys returns the keys in order.
func (e entries) keys() (keys [][]byte) {
	for _, key := range slices.Sorted(maps.Keys(e)) {
		keys = append(keys, []byte(key))
	}
	return keys
}

func (e entries) put(t testing.TB, db *leveldb.DB, key, value []byte) {
	require.NoError(t, db.Put(key, value, nil))
	e[string(key)] = string(value)
}

// fill writes n random keys, some of them again, and deletes some.
func (e entries) fill(t testing.TB, db *leveldb.DB, seed int64, n int) {
	rng := enginetest.Rand(t, seed)
	keys := enginetest.Keys(rng, n)
	for i, key := range keys {
		e.put(t, db, key, fmt.Appendf(nil, "value %d of %d", i, seed))
		switch again := keys[rng.Intn(i+1)]; i % 10 {
		case 3, 6:
			e.put(t, db, again, fmt.Appendf(nil, "new value %d of %d", i, seed))
		case 9:
			require.NoError(t, db.Delete(again, nil))
			delete(e, string(again))
		}
	}
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

// requireAbsent requires that a database has none of the keys.
func requireAbsent(t testing.TB, db *leveldb.DB, keys [][]byte) {
	for _, key := range keys {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound, "key %x", key)
	}
}

// userKey returns the user's part of a key in a database's table.
func userKey(internal []byte) []byte { return internal[:len(internal)-8] }

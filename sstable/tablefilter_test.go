package sstable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// A filter is read by its exact name: neither a longer nor a shorter one will do.
func TestFilterNames(t *testing.T) {
	keys := plainKeys("a", "b")
	const two, one = "filter." + policy.Name, "filter." + policy.NameGoLevelDB // the first is the second and a 2
	for _, c := range []struct {
		name  string
		inIt  []string
		asked string
		found bool
	}{
		{"its name", []string{two}, policy.Name, true},
		{"its other name", []string{one}, policy.NameGoLevelDB, true},
		{"a longer name is there", []string{two}, policy.NameGoLevelDB, false},
		{"a shorter name is there", []string{one}, policy.Name, false},
		{"both", []string{one, two}, policy.Name, true},
		{"both, the other one", []string{one, two}, policy.NameGoLevelDB, true},
		{"bytes behind", []string{two + "\x00", two + " "}, policy.Name, false},
		{"bytes before", []string{"x" + two, "my" + two, ".filter." + policy.Name}, policy.Name, false},
		{"upper case", []string{"Filter." + policy.Name, "filter.LEVELDB.BuiltinBloomFilter2"}, policy.Name, false},
		{"without prefix", []string{policy.Name}, policy.Name, false},
		{"the prefix twice", []string{"filter.filter." + policy.Name}, policy.Name, false},
		{"the prefix alone", []string{"filter.", "filter"}, policy.Name, false},
		{"no filter", []string{}, policy.Name, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, _ := writeTable(t, tableOptions{policy: policytest.Must(policy.NewBloom(10)), filterAs: c.inIt}, keys...)
			filter, err := openTable(t, file, sstable.WithFileName("x.ldb")).Filter(policytest.Must(policy.NewBloom(20, policy.WithName(c.asked))))
			if !c.found {
				require.Nil(t, filter)
				require.ErrorIs(t, err, sstable.ErrNoFilter)
				require.EqualError(t, err, `x.ldb: the table has no filter of this name: "`+c.asked+`"`)
				return
			}
			require.NoError(t, err)
			require.True(t, filter.MayContain([]byte("a")))
			require.NotNil(t, filter.Windows())
			require.Nil(t, filter.Whole())
		})
	}
}

// Two names for different filters: each policy asks its own.
func TestFiltersOfTwoPolicies(t *testing.T) {
	other := build(newBuilder(t), []dataBlock{{0, []string{"other"}}}, 20)
	file, _ := writeTable(t, tableOptions{policy: policytest.Must(policy.NewBloom(10)), meta: []metaBlock{{"filter.test.Exact", other}}}, plainKeys("a")...)
	table := openTable(t, file)
	ours, err := table.Filter(policytest.Must(policy.NewBloom(10)))
	require.NoError(t, err)
	require.True(t, ours.MayContain([]byte("a")))
	require.False(t, ours.MayContain([]byte("Other")))
	theirs, err := table.Filter(exact{t})
	require.NoError(t, err)
	require.False(t, theirs.MayContain([]byte("a")))
}

// One filter for the whole table, as RocksDB and Pebble write it: no window, no index.
func TestWholeFilter(t *testing.T) {
	users := names(40)
	whole := filterOf(users...)
	o := tableOptions{blockSize: 100, internal: true, meta: []metaBlock{{"fullfilter.test.Exact", whole}}}
	file, w := writeTable(t, o, internalKeys(users...)...)
	for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(sstable.InternalKeys)}, {sstable.WithKeys(sstable.PlainKeys)}} {
		table := openTable(t, file, opts...)
		require.Len(t, table.Filters(), 1)
		require.True(t, table.Filters()[0].Whole)
		filter, err := table.Filter(exact{t})
		require.NoError(t, err)
		require.Equal(t, whole, filter.Whole())
		require.Nil(t, filter.Windows())
		for _, user := range users {
			require.True(t, filter.MayContain([]byte(user)))
			require.True(t, filter.MayContainAt(0, []byte(user)))
			require.True(t, filter.MayContainAt(1<<63, []byte(user)))
		}
		for _, absent := range []string{"", "a", "zzz"} { // it knows keys behind the last block too
			require.False(t, filter.MayContain([]byte(absent)))
			require.False(t, filter.MayContainAt(w.dataBlocks[3].Offset, []byte(absent)))
		}
	}

	// Both kinds under one name: the first in the metaindex is read, and each can be opened.
	o.policy, o.baseLg = exact{t}, 6
	o.meta[0].contents = filterOf("other")
	file, _ = writeTable(t, o, internalKeys(users...)...)
	table := openTable(t, file)
	filter, err := table.Filter(exact{t})
	require.NoError(t, err)
	require.NotNil(t, filter.Windows())
	require.Equal(t, 6, filter.Windows().BaseLg())
	entries := table.Filters()
	require.Equal(t, []bool{false, true}, []bool{entries[0].Whole, entries[1].Whole})
	filter, err = table.OpenFilter(entries[1], exact{t})
	require.NoError(t, err)
	require.True(t, filter.MayContain([]byte("other")))
	require.False(t, filter.MayContain([]byte(users[0])))
	filter, err = table.OpenFilter(entries[0], exact{t})
	require.NoError(t, err)
	require.True(t, filter.MayContain([]byte(users[0])))
}

// A policy of any name can read a filter if it is told which.
func TestOpenFilter(t *testing.T) {
	file, _ := writeTable(t, tableOptions{policy: policytest.Must(policy.NewBloom(10)), filterAs: []string{"filter.somebody.else"}}, plainKeys("a")...)
	table := openTable(t, file)
	filter, err := table.OpenFilter(table.Filters()[0], policytest.Must(policy.NewBloom(10)))
	require.NoError(t, err)
	require.True(t, filter.MayContain([]byte("a")))

	_, err = table.OpenFilter(sstable.FilterEntry{Handle: sstable.BlockHandle{Offset: 1 << 40, Length: 7}}, policytest.Must(policy.NewBloom(10)))
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
}

// Readers of one file, and users of one filter, do not disturb each other; the race detector
// watches this test.
func TestConcurrentTables(t *testing.T) {
	users := names(200)
	file, w := writeTable(t, tableOptions{blockSize: 200, compression: zstded, policy: policytest.Must(policy.NewBloom(10)), internal: true}, internalKeys(users...)...)
	filter, err := openTable(t, file).Filter(policytest.Must(policy.NewBloom(10)))
	require.NoError(t, err)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			requireEntries(t, openTable(t, file), w, internalKeys(users...))
			for _, user := range users {
				require.True(t, filter.MayContain([]byte(user)))
			}
		})
	}
}

package pebblev2

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// A table that was written with the options is not old, whatever the bits per key and the number of
// keys, of which two may have one hash. A large one with a bit more or less per key is.
func TestIsOld(t *testing.T) {
	of := func(bits float64) *policy.Policy {
		p, err := policy.NewRibbon(bits)
		require.NoError(t, err)
		return p
	}
	table := &pebble.SSTableInfo{Properties: &sstable.Properties{FilterPolicyName: policy.NameLevelDB}}
	table.Smallest.UserKey, table.Largest.UserKey = []byte("a"), []byte("b")
	for tenths := 40; tenths <= 390; tenths++ {
		bits := float64(tenths) / 10
		o := new(pebble.Options)
		require.NoError(t, Configure(o, of(bits)))
		w, err := wantedOf(o)
		require.NoError(t, err)
		w.mark = false // which older formats lack
		for keys := 20; keys <= 2000; keys += 1 + keys/700*97 {
			table.Properties.FilterSize = of(bits).FilterSize(keys)
			for _, entries := range []int{keys, keys + 1} {
				table.Properties.NumEntries = uint64(entries)
				require.False(t, w.isOld(6, table), "%v bits, %d keys, %d entries", bits, keys, entries)
			}
			for _, other := range []float64{bits - 1, bits + 1} {
				if keys <= 700 {
					break // there are sizes that filters of both have
				}
				table.Properties.FilterSize = of(other).FilterSize(keys)
				require.True(t, w.isOld(6, table), "%v bits, not %v, %d keys", other, bits, keys)
			}
		}
	}
}

// A table between whole keys may have a filter of few prefixes.
func TestIsOldWithSplit(t *testing.T) {
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	o := &pebble.Options{Comparer: new(pebble.Comparer)}
	*o.Comparer = *comparerOf(new(pebble.Options))
	o.Comparer.Split = func(key []byte) int {
		if string(key[:1]) == "m" {
			return 1
		}
		return len(key)
	}
	require.NoError(t, Configure(o, p))
	w, err := wantedOf(o)
	require.NoError(t, err)
	w.mark = false
	table := &pebble.SSTableInfo{Properties: &sstable.Properties{
		FilterPolicyName: policy.NameLevelDB, FilterSize: p.FilterSize(3),
	}}
	table.Properties.NumEntries = 1000
	table.Smallest.UserKey, table.Largest.UserKey = []byte("a"), []byte("z")
	require.False(t, w.isOld(6, table))
}

// Where Split panics, a bound is all prefix.
func TestSplitPanics(t *testing.T) {
	w := wanted{comparer: &pebble.Comparer{Split: func([]byte) int { panic("this is no key") }}}
	require.Equal(t, "bound", string(w.prefix([]byte("bound"))))
}

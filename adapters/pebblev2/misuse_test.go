package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// The name that a policy has when it is configured stays the name of its filters.
func TestNameThatChanges(t *testing.T) {
	dir := t.TempDir()
	keys := policytest.Keys(policytest.Rand(t, 101), 1000)
	spied := &spy{Policy: bloom(t, 10)}
	p := &renaming{Policy: spied, name: "a"}
	o := configured(t, resting(small(pebble.FormatNewest)), p)
	require.Contains(t, o.Filters, "a")
	require.NotContains(t, o.Filters, "b")
	p.name = "b"
	db := open(t, dir, o)
	put(t, db, keys)
	require.Equal(t, []string{"a"}, tables(t, db)[0])
	require.Zero(t, lostByGet(t, db, keys))
	require.EqualValues(t, len(keys), spied.asked.Load())
	require.NoError(t, db.Close())

	// Configured again, it has another one. The policy that the levels had stays as a reader.
	spied.asked.Store(0)
	require.NoError(t, pebblev2.Configure(o, p))
	require.Contains(t, o.Filters, "a")
	require.Contains(t, o.Filters, "b")
	db = open(t, dir, o)
	require.Zero(t, lostByGet(t, db, keys))
	require.EqualValues(t, len(keys), spied.asked.Load())
	require.NoError(t, db.Close())
}

// Configure twice is Configure once.
func TestConfigureTwice(t *testing.T) {
	p := bloom(t, 10)
	for _, opts := range [][]pebblev2.Option{nil, {pebblev2.WithL6()}} {
		once := configured(t, &pebble.Options{}, p, opts...)
		twice := configured(t, configured(t, &pebble.Options{}, p, opts...), p, opts...)
		require.Equal(t, filtersOf(once), filtersOf(twice))
		require.Equal(t, ensured(once).String(), ensured(twice).String())
		require.Equal(t, once.Filters, twice.Filters)
	}
}

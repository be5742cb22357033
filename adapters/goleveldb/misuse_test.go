package goleveldb_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// An option that fails leaves the options as they were, also if another one came before it.
func TestConfigureWithOptionThatFails(t *testing.T) {
	fault := errors.New("fault")
	o := &opt.Options{}
	require.ErrorIs(
		t,
		goleveldb.Configure(
			o,
			bloom(t, 10),
			goleveldb.WithFilterBaseLg(13),
			func(*opt.Options) error { return fault },
		),
		fault,
	)
	require.Equal(t, &opt.Options{}, o)
}

// Configure twice: the first policy stays as a reader if the second has another name, and gives way
// if it has the same.
func TestConfigureTwice(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	first, second, third := policy.Count(
		bloom(t, 10),
	), policy.Count(
		bloom(t, 10, policy.WithName("mine")),
	), policy.Count(
		bloom(t, 16),
	)

	o := configured(t, nil, first)
	db := open(t, dir, o)
	content.fillRange(t, db, "a", 500)
	require.NoError(t, db.Close())

	o = configured(t, o, second)
	db = open(t, dir, o)
	content.fillRange(t, db, "b", 500)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, 500, first.Snapshot().Checks())
	require.EqualValues(t, 500, second.Snapshot().Checks())
	require.NoError(t, db.Close())

	o = configured(t, o, third)
	require.Len(t, o.AltFilters, 2)
	db = open(t, dir, o)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, 500, first.Snapshot().Checks(), "replaced")
	require.EqualValues(t, 1000, second.Snapshot().Checks())
	require.EqualValues(t, 500, third.Snapshot().Checks())
	require.NoError(t, db.Close())
}

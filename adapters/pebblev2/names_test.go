package pebblev2_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

func TestByName(t *testing.T) {
	first, second := bloom(t, 10), bloom(t, 16)
	mine := bloom(t, 8, policy.WithName("mine"))
	find := pebblev2.ByName(first, second, mine)
	for name, want := range map[string]pebble.FilterPolicy{
		policy.Name: pebblev2.New(first),
		"mine":      pebblev2.New(mine),
		engineName:  engine.FilterPolicy(10),
		"none":      noFilter,
	} {
		f, err := find(name)
		require.NoError(t, err)
		require.Equal(t, want, f, name)
	}

	f, err := find("unknown")
	require.Nil(t, f)
	require.EqualError(t, err, `pebblev2: no filter policy is named "unknown": known are none, `+
		`rocksdb.BuiltinBloomFilter, leveldb.BuiltinBloomFilter2, leveldb.BuiltinBloomFilter2, mine; `+
		`pass the policy of that name to ByName`)
}

func TestByNameRefusesNil(t *testing.T) {
	require.Panics(t, func() { pebblev2.ByName(nil) })
}

// The options that a database has stored bring its filters back.
func TestOptionsFile(t *testing.T) {
	dir := t.TempDir()
	high, low := bloom(t, 16, policy.WithName("high")), bloom(t, 8, policy.WithName("low"))
	configure := func(o *pebble.Options, high, low policy.Policy) *pebble.Options {
		require.NoError(
			t,
			pebblev2.ConfigureLevels(o, []policy.Policy{high, high, high, nil, low, low, nil}),
		)
		return o
	}
	written := configure(resting(small(pebble.FormatNewest)), high, low)
	keys := policytest.Keys(policytest.Rand(t, 50), 500)
	db := open(t, dir, written)
	put(t, db, keys)
	require.NoError(t, db.Close())

	files, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	stored, err := os.ReadFile(slices.Max(files))
	require.NoError(t, err)

	parse := func(candidates ...policy.Policy) (*pebble.Options, error) {
		o := &pebble.Options{}
		err := o.Parse(
			string(stored),
			&pebble.ParseHooks{NewFilterPolicy: pebblev2.ByName(candidates...)},
		)
		return o, err
	}
	s := &spy{Policy: high}
	o, err := parse(low, s)
	require.NoError(t, err)
	require.Equal(t, [7]string{"high", "high", "high", "none", "low", "low", "none"}, filtersOf(o))
	require.Equal(t, ensured(written).String(), ensured(o).String())

	o.Logger = quiet{}
	db = open(t, dir, resting(o))
	require.Zero(t, lostByGet(t, db, keys))
	require.GreaterOrEqual(t, s.asked.Load(), int64(len(keys)))
	require.NoError(t, db.Close())

	_, err = parse(low)
	require.ErrorContains(t, err, `no filter policy is named "high"`)
}

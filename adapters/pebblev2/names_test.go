package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
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
	require.EqualError(t, err, `pebblev2: no filter policy is named "unknown": known are `+
		`none, rocksdb.BuiltinBloomFilter, leveldb.BuiltinBloomFilter2, `+
		`leveldb.BuiltinBloomFilter2, mine; pass the policy of that name to ByName`)
	require.Panics(t, func() { pebblev2.ByName(nil) })
}

// A name that policy accepts comes back from Pebble's options file, at every level.
func FuzzNames(f *testing.F) {
	for _, name := range []string{policy.Name, "a=b", "[Version]", "a#b", "\x00", "é"} {
		f.Add(name, 10.0)
	}
	f.Fuzz(func(t *testing.T, name string, bitsPerKey float64) {
		p, err := policy.NewBloom(bitsPerKey, policy.WithName(name))
		if err != nil {
			return
		}
		o := configured(t, oneLevel(), p)
		var parsed pebble.Options
		require.NoError(t, parsed.Parse(ensured(o).String(),
			&pebble.ParseHooks{NewFilterPolicy: pebblev2.ByName(p)}))
		for level := range 7 {
			require.Equal(t, name, filterAt(&parsed, level).Name())
		}
	})
}

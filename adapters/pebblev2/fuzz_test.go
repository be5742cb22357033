package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

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
		o := oneLevel()
		require.NoError(t, pebblev2.Configure(o, p, pebblev2.WithL6(p)))
		var parsed pebble.Options
		err = parsed.Parse(ensured(o).String(),
			&pebble.ParseHooks{NewFilterPolicy: pebblev2.ByName(p)})
		require.NoError(t, err)
		for level := range 7 {
			require.Equal(t, name, filterAt(&parsed, level).Name())
		}
	})
}

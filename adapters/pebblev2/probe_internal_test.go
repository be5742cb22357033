package pebblev2

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// A probe that goes on after it has excluded a block loses keys: this is why find seeks again, and
// why HasAll takes a new probe after unknown.
func TestReuseLosesKeys(t *testing.T) {
	if RaceEnabled {
		t.Skip("Pebble then turns off the shortcut that loses them, for some iterators")
	}
	p, err := policy.NewRibbon(10)
	require.NoError(t, err)
	o := &pebble.Options{
		FS: vfs.NewMem(), FormatMajorVersion: pebble.FormatNewest, DisableAutomaticCompactions: true,
	}
	require.NoError(t, Configure(o, p, WithL6(p)))
	db, err := pebble.Open("db", o)
	require.NoError(t, err)
	keys := enginetest.Keys(enginetest.Rand(t, 150), 2000)
	slices.SortFunc(keys, bytes.Compare)
	for _, key := range keys {
		require.NoError(t, db.Set(key, make([]byte, 100), pebble.NoSync))
	}
	require.NoError(t, db.Flush())

	mistaken, err := newProbe(db)
	require.NoError(t, err)
	lost := 0
	for _, key := range keys {
		if mistaken.seek(key, false) == absent {
			lost++
		}
	}
	require.NoError(t, mistaken.close())
	require.Greater(t, lost, len(keys)/2)
	found, err := HasAll(db, keys)
	require.NoError(t, err)
	require.NotContains(t, found, false)
	require.NoError(t, db.Close())
}

// A probe gives no block up unnoticed, whatever property it gets.
func TestProbeNotesWhatItExcludes(t *testing.T) {
	table, forged, block := []byte{1}, []byte{}, []byte(nil)
	for _, c := range []struct {
		properties [][]byte
		excluded   int
	}{
		{nil, 0},
		{[][]byte{table}, 0},
		{[][]byte{forged}, 0},
		{[][]byte{block}, 1}, // of a table that is open
		{[][]byte{block, block, block}, 1},
		{[][]byte{table, block, block}, 1},
		{[][]byte{table, block, table}, 1},
		{[][]byte{table, block, block, table, block}, 2},
		{[][]byte{table, block, forged, block}, 2},
		{[][]byte{block, table, block, table, block, block}, 3},
	} {
		for _, synthetic := range []bool{false, true} {
			for _, read := range []bool{false, true} {
				p := &probe{read: read}
				for _, property := range c.properties {
					consult := p.Intersects
					if synthetic {
						consult = func(property []byte) (bool, error) {
							return p.SyntheticSuffixIntersects(property, []byte("@1"))
						}
					}
					intersects, err := consult(property)
					require.NoError(t, err)
					require.Equal(t, read || property != nil, intersects)
				}
				want := c.excluded
				if read {
					want = 0
				}
				require.Equal(t, want, p.excluded, "%v", c)
			}
		}
	}
}

// A probe is in the pool only after its iterator is closed: another lookup may take it at once.
func TestProbeIsClosedFirst(t *testing.T) {
	p := new(probe) // its nil iterator cannot be closed
	require.Panics(t, func() { _ = p.close() })
	for range 100 { // the pool may have others
		require.NotSame(t, p, probes.Get())
	}
}

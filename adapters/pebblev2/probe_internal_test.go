package pebblev2

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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

package pebblev2

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A probe excludes blocks alone, whatever property they or their table get, and notes it.
func TestProbeNotesWhatItExcludes(t *testing.T) {
	for _, property := range [][]byte{nil, {}, {1}, []byte("users'")} {
		var p probe
		through, err := p.SyntheticSuffixIntersects(property, []byte("@1"))
		require.NoError(t, err)
		require.Equal(t, property != nil, through)
		require.Equal(t, !through, p.excluded)
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

// Blocks returns the size of what Check says must be in the block cache twice.
func Blocks(r Report) uint64 { return r.needs.blocks }

// SetReadPrice sets readPrice for the rest of a test. With 0, every lookup may read, and Has and
// Get always look for the newest version first.
func SetReadPrice(t testing.TB, price int) {
	formerPrice, formerPause := readPrice, longestPause
	t.Cleanup(func() { readPrice, longestPause = formerPrice, formerPause })
	readPrice, longestPause = price, min(price, formerPause)
}

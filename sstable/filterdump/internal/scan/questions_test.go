package scan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// oneWindow is a table whose keys all share a filter.
type oneWindow struct {
	tables.Table
	reads int
}

func (w *oneWindow) Locate([]byte) int { return 0 }

func (w *oneWindow) Window([]byte) ([][]byte, error) {
	w.reads++
	return [][]byte{[]byte("a"), []byte("b")}, nil
}

// A window, which may be a whole table, is read once for many lookups.
func TestWindowIsReadOnce(t *testing.T) {
	var w oneWindow
	var a Answers
	for range 10 {
		require.NoError(t, a.simulate(&w, []byte("a")))
	}
	require.Equal(t, 1, w.reads)
	require.EqualValues(t, 10, a.Simulated)
	require.EqualValues(t, 10, a.SimulatedPassed)
}

package scan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// oneWindow is a table whose keys all share a filter.
type oneWindow struct {
	tables.Table
	keys  []string
	reads int
}

func (w *oneWindow) Locate([]byte) int { return 0 }

func (w *oneWindow) Window(_ []byte, f func([]byte)) error {
	w.reads++
	for _, key := range w.keys {
		f([]byte(key))
	}
	return nil
}

// A window, which may be a whole table, is read once for many lookups.
func TestWindowIsReadOnce(t *testing.T) {
	for _, keys := range [][]string{{"a", "b"}, nil} {
		w := oneWindow{keys: keys}
		s := simulation{&w, map[int][]byte{}}
		for range 10 {
			filter, err := s.filter([]byte("a"))
			require.NoError(t, err)
			require.Equal(t, keys != nil, policy.MayContain(filter, []byte("a")))
		}
		require.Equal(t, 1, w.reads)
	}
}

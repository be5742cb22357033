package ondisk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

// A directory may have any name: one that is a pattern, and one that is not UTF-8.
func TestPaths(t *testing.T) {
	for _, name := range []string{"db[1]", "db\xff"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Skip(err) // some systems want UTF-8
		}
		db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
		require.NoError(t, err)
		const n = 1000
		for i := range n {
			require.NoError(t, db.Set(fmt.Appendf(nil, "key%d", i), nil, pebble.NoSync))
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())

		v, err := Count(context.Background(), dir)
		require.NoError(t, err)
		require.Empty(t, v.Why)
		require.Equal(t, "pebblev2", v.Engine, "%q", name)
		require.Zero(t, v.Unread, "%q", name)
		require.EqualValues(t, n, v.Keys, "%q", name)
		keys := 0
		leftOut, err := Keys(context.Background(), dir, func([]byte) error { keys++; return nil })
		require.NoError(t, err)
		require.Zero(t, leftOut)
		require.Equal(t, n, keys)
	}
}

package goleveldb_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// The databases that releases wrote: with a filter for every 2 KiB of blocks, and with one for each
// table. They are not compressed, so that every version of goleveldb makes the same windows.
func TestReleases(t *testing.T) {
	enginetest.ReleaseEngine{
		Name: "goleveldb",
		New: func(t testing.TB, dir string) enginetest.Engine {
			stored, err := storage.OpenFile(filepath.Join(dir, "db"), false)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, stored.Close()) })
			return suiteEngine{t, stored}
		},
		Settings: [2]enginetest.Setting{{Variant: 1}, {Variant: 1, Large: true}},
	}.Releases(t)
}

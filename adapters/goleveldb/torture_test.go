package goleveldb_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

func TestTorture(t *testing.T) {
	torture.Run(t, torture.Target{
		OnDisk: func(t testing.TB, dir string, f *torture.Faults) enginetest.Engine {
			files, err := storage.OpenFile(filepath.Join(dir, "db"), false)
			require.NoError(t, err)
			t.Cleanup(func() { files.Close() })
			return suiteEngine{faultyStorage{files, f}}
		},
		Volatile: func(testing.TB) torture.Volatile { return volatileOn(newForgetful()) },
	})
}

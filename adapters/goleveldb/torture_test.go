package goleveldb_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

var target = torture.Target{
	Ways: batches,
	OnDisk: func(t testing.TB, dir string, f *torture.Faults) enginetest.Engine {
		files, err := storage.OpenFile(filepath.Join(dir, "db"), false)
		require.NoError(t, err)
		t.Cleanup(func() { files.Close() })
		return suiteEngine{faultyStorage{files, f}}
	},
	Volatile: func(testing.TB) torture.Volatile { return volatileOn(newForgetful()) },
}

func TestTorture(t *testing.T) { torture.Run(t, target) }

func TestSoak(t *testing.T) { torture.Soak(t, target) }

// batches leaves out transactions: after a crash, goleveldb loses batches that it acknowledged if
// there were transactions before. Flush uses one, but commits nothing.
const batches = 1

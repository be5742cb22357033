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
	OnDisk: func(t testing.TB, dir string) enginetest.Engine {
		files, err := storage.OpenFile(filepath.Join(dir, "db"), false)
		require.NoError(t, err)
		t.Cleanup(func() { files.Close() })
		return suiteEngine{t, files}
	},
}

// A killed process loses no acknowledged key, and deleted keys stay deleted, even if it dies while
// it opens the database.
func TestKill(t *testing.T) { torture.Kill(t, target) }

// Concurrent use loses no key, and leaks no goroutine or memory, while filters change and
// compactions run.
func TestSoak(t *testing.T) { torture.Soak(t, target) }

// batches leaves out transactions. After a crash, goleveldb loses batches that it acknowledged if
// there were transactions before; and lookups beside transactions find old versions of keys (see
// .github/TESTING.md). Flush uses one, but commits nothing.
const batches = 1

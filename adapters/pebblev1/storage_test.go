package pebblev1_test

import (
	"bytes"
	"errors"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/cockroachdb/pebble/objstorage"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/cockroachdb/pebble/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

// Storage that fails or loses what was not synced.

// faulty returns fs, whose operations fail as f says. It spares reads of tables by a levelIter:
// Pebble v1 takes the table for empty if its first block cannot be read, and a compaction then
// loses its keys. That is fixed in Pebble v2 (github.com/cockroachdb/pebble/pull/3211).
func faulty(fs vfs.FS, f *torture.Faults) vfs.FS {
	return shortWrites{errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op, _ string) error {
		err := f.Next(op.OpKind() == errorfs.OpKindWrite)
		if err != nil && bytes.Contains(debug.Stack(), []byte("pebble.(*levelIter).")) {
			return nil
		}
		return err
	}))}
}

// shortWrites writes the first half where a fault asks for that.
type shortWrites struct{ vfs.FS }

func (s shortWrites) Create(name string) (vfs.File, error) {
	return short(s.FS.Create(name))
}

func (s shortWrites) ReuseForWrite(oldname, newname string) (vfs.File, error) {
	return short(s.FS.ReuseForWrite(oldname, newname))
}

// volatile returns an engine that can lose what was not synced. The database's directory exists:
// Pebble v1 creates it, but does not sync the one above.
func volatile(t testing.TB) torture.Volatile {
	fs := vfs.NewStrictMem()
	require.NoError(t, fs.MkdirAll("db", 0o755))
	root, err := fs.OpenDir("")
	require.NoError(t, err)
	require.NoError(t, errors.Join(root.Sync(), root.Close()))
	v := torture.Volatile{Engine: suiteEngine{fs: fs}, Ways: 1}
	v.Cut = func(*rand.Rand) (restore func() torture.Volatile) {
		fs.SetIgnoreSyncs(true)
		return func() torture.Volatile {
			fs.ResetToSyncedState()
			fs.SetIgnoreSyncs(false)
			return v
		}
	}
	return v
}

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

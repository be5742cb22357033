package pebblev2_test

import (
	"context"
	"errors"
	"math/rand"
	randv2 "math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

// Storage that fails or loses what was not synced.

// faulty returns fs, whose operations fail as f says.
func faulty(fs vfs.FS, f *torture.Faults) vfs.FS {
	return shortWrites{errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		return f.Next(op.Kind.ReadOrWrite() == errorfs.OpIsWrite)
	}))}
}

// reading returns fs, which calls read before each read of a file. If read returns an error, that
// fails.
func reading(fs vfs.FS, read func() error) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileReadAt {
			return nil
		}
		return read()
	}))
}

// shortWrites writes the first half where a fault asks for that.
type shortWrites struct{ vfs.FS }

func (s shortWrites) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return short(s.FS.Create(name, category))
}

func (s shortWrites) ReuseForWrite(
	oldname, newname string, category vfs.DiskWriteCategory,
) (vfs.File, error) {
	return short(s.FS.ReuseForWrite(oldname, newname, category))
}

// volatile returns an engine that can lose what was not synced.
func volatile(testing.TB) torture.Volatile { return volatileOn(vfs.NewCrashableMem()) }

func volatileOn(fs *vfs.MemFS) torture.Volatile {
	return torture.Volatile{
		Engine: suiteEngine{fs: fs},
		Cut: func(rng *rand.Rand) (restore func() torture.Volatile) {
			clone := fs.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 50, 100}[rng.Intn(3)],
				RNG:                 randv2.New(randv2.NewPCG(rng.Uint64(), 0)),
			})
			return func() torture.Volatile { return volatileOn(clone) }
		},
	}
}

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

// A table from elsewhere is downloaded: its blocks are copied (sstable.CopySpan), which drops the
// mark and keeps the filter, or it is rewritten.
func TestDownload(t *testing.T) {
	const n = 500
	for _, copied := range []bool{true, false} {
		storage := remote.NewInMem()
		db, o := openVersioned(t, func(o *pebble.Options) {
			o.Experimental.RemoteStorage = remote.MakeSimpleFactory(
				map[remote.Locator]remote.Storage{"": storage})
		})
		require.NoError(t, db.SetCreatorID(1))
		require.NoError(t, writeTableFor(db, o, "table", versioned(n, 1)))
		table := readAll(t, o.FS, "table")
		object, err := storage.CreateObject("table")
		require.NoError(t, err)
		_, err = object.Write(table)
		require.NoError(t, errors.Join(err, object.Close()))
		span := pebble.ExternalFile{
			ObjName: "table", Size: uint64(len(table)), StartKey: []byte("k"), EndKey: []byte("l"),
			HasPointKey: true, SyntheticSuffix: []byte("@3"),
		}
		ctx := context.Background()
		_, err = db.IngestExternalFiles(ctx, []pebble.ExternalFile{span})
		require.NoError(t, err)
		requireVersions(t, db, n, 3)
		require.NoError(t, db.Download(ctx, []pebble.DownloadSpan{
			{StartKey: span.StartKey, EndKey: span.EndKey, ViaBackingFileDownload: copied},
		}))
		requireVersions(t, db, n, 3)
		require.NoError(t, db.Close())
	}
}

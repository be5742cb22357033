package pebblev2_test

import (
	"math/rand"
	randv2 "math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
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

// shortWrites writes the first half where a fault says so.
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

func volatileOn(mem *vfs.MemFS) torture.Volatile {
	fs := &cuttable{FS: mem}
	return torture.Volatile{
		Engine: suiteEngine{fs: fs},
		Cut: func(rng *rand.Rand) (restore func() torture.Volatile) {
			fs.cutting.Lock()
			defer fs.cutting.Unlock()
			clone := mem.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 50, 100}[rng.Intn(3)],
				RNG:                 randv2.New(randv2.NewPCG(rng.Uint64(), 0)),
			})
			return func() torture.Volatile { return volatileOn(clone) }
		},
	}
}

// cuttable is a vfs.MemFS whose power can be cut at any time. Link and ReuseForWrite of vfs.MemFS
// lock its mutex for reading twice, which never ends if CrashClone asks for it between.
type cuttable struct {
	vfs.FS
	cutting sync.RWMutex
}

func (c *cuttable) Link(oldname, newname string) error {
	c.cutting.RLock()
	defer c.cutting.RUnlock()
	return c.FS.Link(oldname, newname)
}

func (c *cuttable) ReuseForWrite(
	oldname, newname string, category vfs.DiskWriteCategory,
) (vfs.File, error) {
	c.cutting.RLock()
	defer c.cutting.RUnlock()
	return c.FS.ReuseForWrite(oldname, newname, category)
}

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

package pebblev2_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Faults of Pebble v2, without filters. If one fails, Pebble may have mended its fault.
// Then delete the test and its row in .github/TESTING.md.

// Excise gives what remains of a table on remote storage a lower bound that is above the table's
// range deletion. Pebble's table statistics assert the contrary, in a goroutine of their own, so a
// child process does it.
func TestExciseRemoteTable(t *testing.T) {
	testkit.Large(t)
	const child = "LEVELBLOOM_EXCISE"
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestExciseRemoteTable$", "-large")
		c.Env = append(os.Environ(), child+"=1")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		require.Error(t, err)
		require.Contains(t, string(out), "panic: lower bound d#0,DELSIZED violated by key d#")
		return
	}
	o := &pebble.Options{
		FS: vfs.NewMem(), FormatMajorVersion: pebble.FormatNewest, Logger: quiet{},
	}
	o.Experimental.RemoteStorage = remote.MakeSimpleFactory(
		map[remote.Locator]remote.Storage{"": remote.NewInMem()})
	o.Experimental.CreateOnShared = remote.CreateOnSharedAll
	db := open(t, "", o)
	require.NoError(t, db.SetCreatorID(1))
	require.NoError(t, db.DeleteRange([]byte("b"), []byte("e"), nil))
	require.NoError(t, db.Flush())
	span := pebble.KeyRange{Start: []byte("c"), End: []byte("d")}
	require.NoError(t, db.Excise(context.Background(), span))
	require.NoError(t, db.Close())
	require.NoError(t, openLoaded(t, "", o).Close())
}

// An askedContext calls asked when somebody calls Done.
type askedContext struct {
	context.Context
	asked func()
}

func (c askedContext) Done() <-chan struct{} {
	c.asked()
	return c.Context.Done()
}

// WaitForFileOnlySnapshot looks at its context only before it waits for a flush.
func TestWaitForFileOnlySnapshot(t *testing.T) {
	testkit.Large(t)
	db := open(t, "", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	require.NoError(t, db.Set([]byte("key"), nil, nil))
	s := db.NewEventuallyFileOnlySnapshot([]pebble.KeyRange{{Start: []byte("a"), End: []byte("z")}})
	ctx, cancel := context.WithCancel(context.Background())
	asked, result := make(chan struct{}), make(chan error, 1)
	c := askedContext{ctx, sync.OnceFunc(func() { close(asked) })}
	go func() { result <- s.WaitForFileOnlySnapshot(c, time.Hour) }()
	<-asked
	db.Metrics() // takes the mutex that the other goroutine holds until it waits
	cancel()
	require.NoError(t, db.Flush())
	require.NoError(t, <-result, "it ends with the flush, not with its context")
	require.NoError(t, s.Close())
	require.NoError(t, db.Close())
}

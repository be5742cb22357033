package tables

import (
	"context"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// An error of reading the file is not called damage.
func TestPebbleClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	file, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	w := pebblesst.NewWriter(objstorageprovider.NewFileWritable(file), pebblesst.WriterOptions{})
	require.NoError(t, w.Set([]byte("key"), nil))
	require.NoError(t, w.Close())
	table, err := Open(context.Background(), path)
	require.NoError(t, err)
	require.NoError(t, table.(*pebbleTable).file.file.Close())
	err = table.Keys(func(int, []byte) error { return nil })
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.NotErrorAs(t, err, &corruption)
}

package pebblev1_test

import (
	"testing"

	"github.com/cockroachdb/pebble/objstorage"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"
)

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

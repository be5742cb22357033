package tables

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// An error of reading the file is not called damage.
func TestPebbleClosed(t *testing.T) {
	table, err := Open("../../../../testdata/rocksdb/fv2_full_bloom.sst", Options{})
	require.NoError(t, err)
	require.NoError(t, table.(*pebbleTable).file.file.Close())
	err = table.Keys(func(int, []byte) error { return nil })
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.NotErrorAs(t, err, &corruption)
}

package pebblev1

import (
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"
)

// The first lookup finds out that a database's comparer has no Split, and later ones know.
func TestWithoutSplitIsRemembered(t *testing.T) {
	db, err := pebble.Open("db", &pebble.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	key := []byte("key")
	p, err := newProbe(db)
	require.NoError(t, err)
	require.NotNil(t, p)
	require.Equal(t, unknown, p.seek(db, key))
	require.NoError(t, p.close())
	p, err = newProbe(db)
	require.NoError(t, err)
	require.Nil(t, p)
	found, err := Has(db, key)
	require.NoError(t, err)
	require.False(t, found)

	other := new(pebble.DB)
	require.True(t, maySeek(other))
	require.NoError(t, db.Close())
}

package pebblev2_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A table whose keys get another suffix keeps filter and mark.
func TestRewrittenSuffixes(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS, o.Comparer = vfs.NewMem(), getComparers[len(getComparers)-1]
	configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10)))
	db := open(t, "db", o)
	var changes []enginetest.Change
	key := func(i, version int) []byte { return fmt.Appendf(nil, "k%05d@%d", i, version) }
	const n = 500
	for i := range n {
		changes = append(changes, enginetest.Change{Key: key(i, 1), Value: []byte("value")})
	}
	require.NoError(t, writeTableFor(db, o, "table", changes))
	file, err := o.FS.Open("table")
	require.NoError(t, err)
	table, err := io.ReadAll(file)
	require.NoError(t, errors.Join(err, file.Close()))
	full := ensured(o)
	_, _, err = sstable.RewriteKeySuffixesAndReturnFormat(table, full.MakeReaderOptions(),
		createWritable(t, o.FS, "rewritten"), full.MakeWriterOptions(0, tableFormat(db)),
		[]byte("@1"), []byte("@2"), 1)
	require.NoError(t, err)
	require.NoError(t, ingest(db, "rewritten"))
	for i := range n {
		for version := range 4 {
			require.Equal(t, version == 2, requireSameAnswer(t, db, key(i, version)).found)
		}
	}
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	for _, l := range levels {
		require.Zero(t, l.None)
		require.Equal(t, l.ByName[policy.Name], l.Marked)
	}
	require.NoError(t, db.Close())
}

package census

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A database that replaces its tables after they were read, and before they are asked, is counted
// with the new ones.
func TestReplacedTables(t *testing.T) {
	const n = 6000
	ctx, dir := context.Background(), t.TempDir()
	o := &opt.Options{WriteBuffer: 32 << 10, CompactionL0Trigger: 100, // none before it is asked for
		WriteL0SlowdownTrigger: 100, WriteL0PauseTrigger: 100}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	defer db.Close()
	for i := range n {
		require.NoError(t, db.Put(fmt.Appendf(nil, "%08d", i*7919%n*3), make([]byte, 100), nil))
	}
	r := scan.Reader{}
	d, err := Read(ctx, r, dir)
	require.NoError(t, err)

	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, d.Count(ctx, r))
	v := d.Verdict
	require.Zero(t, v.Unread)
	require.EqualValues(t, n, v.Keys)
	require.Equal(t, 2*(n-1), v.Lookups)
	for _, l := range v.Levels {
		require.NotZero(t, l.Number, "all tables were compacted")
	}

	// A table that was dropped since, with none in its place, counts no more.
	d, err = Read(ctx, r, dir)
	require.NoError(t, err)
	d.structure.Tables = append(d.structure.Tables, tables.Placed{
		Path: filepath.Join(dir, "999999.ldb"), Smallest: []byte("0"), Largest: []byte("9")})
	require.NoError(t, d.Count(ctx, r))
	require.Zero(t, d.Verdict.Unread)
}

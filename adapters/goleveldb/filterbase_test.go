package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

func TestWithFilterBaseLg(t *testing.T) {
	p := bloom(t, 10)
	for lg := -1; lg <= 300; lg++ {
		o := &opt.Options{FilterBaseLg: 14}
		err := goleveldb.Configure(o, p, goleveldb.WithFilterBaseLg(lg))
		if lg >= 11 && lg <= 31 {
			require.NoError(t, err)
			require.Equal(t, lg, o.FilterBaseLg)
			continue
		}
		require.EqualError(t, err, fmt.Sprintf("goleveldb: WithFilterBaseLg(%d): pass 11 to 31, "+
			"the binary logarithm of the bytes that share a filter: 11 is LevelDB's 2 KiB, "+
			"16 is 64 KiB, and 21 makes one filter for a table of 2 MiB", lg))
		require.Equal(t, &opt.Options{FilterBaseLg: 14}, o)
	}
	o := &opt.Options{FilterBaseLg: 14}
	require.NoError(t, goleveldb.Configure(o, p))
	require.Equal(t, 14, o.FilterBaseLg)
}

// Larger windows put the same keys into fewer filters. One database may have tables of several
// settings, and each is read through its filters.
func TestFilterBaseLgMixed(t *testing.T) {
	const n = 3000
	dir := t.TempDir()
	content := entries{}
	var filters []uint64
	settings := []int{10, 11, 12, 13, 16, 21, 31}
	for i, lg := range settings {
		counted := policy.Count(bloom(t, 10))
		db := open(t, dir, configured(t, &opt.Options{FilterBaseLg: lg}, counted))
		content.fillRange(t, db, fmt.Sprintf("%c", 'a'+i), n)
		require.NoError(t, db.Close())
		built := counted.Snapshot()
		// A flush writes the content to a table, and the compaction in fillRange to another.
		require.EqualValues(t, 2*n, built.Keys)
		filters = append(filters, built.Filters/2)
	}
	// A data block has 4 KiB of entries of 24 bytes, and compresses to less. So a filter is for one
	// block, then for several, then for the whole table.
	for i := 1; i < len(filters); i++ {
		require.LessOrEqual(t, filters[i], filters[i-1], "base %d", settings[i])
	}
	require.Greater(t, filters[0], uint64(5))
	require.EqualValues(t, 1, filters[len(filters)-1])

	honest := policy.Count(bloom(t, 5)) // reading needs no setting, neither the bits nor the base
	db := open(t, dir, configured(t, &opt.Options{ReadOnly: true}, honest))
	require.Zero(t, content.lost(t, db))
	require.Equal(t, policy.Counters{MayContain: uint64(len(content))}, honest.Snapshot())
	require.NoError(t, db.Close())

	liar := &enginetest.Spy{Policy: bloom(t, 10), Lies: true}
	db = openReadOnly(t, dir, liar)
	require.Equal(t, len(content), content.lost(t, db))
	require.NoError(t, db.Close())
}

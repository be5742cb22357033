package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// goleveldb's default cache of 8 MiB must have room for filters and indexes twice.
func TestGoLevelDBMemory(t *testing.T) {
	v := view(t, "../../../../testdata/goleveldb/name1_ribbon_baselg21")
	db, err := Open(Options{View: v}, nil)
	require.NoError(t, err)
	memory, err := db.Memory(Sizes{Filters: 3 << 20, Indexes: 1 << 20})
	require.NoError(t, err)
	require.Empty(t, memory)
	memory, err = db.Memory(Sizes{Filters: 3 << 20, Indexes: 1<<20 + 1})
	require.NoError(t, err)
	require.Equal(t, "With goleveldb's default options, the file cache (500 tables) has room for 1 "+
		"tables; the block cache (8.0 MiB) is too small for filters and indexes (4.0 MiB) twice: "+
		"set Options.BlockCacheCapacity to 8388610, or more for the data.", memory)
	require.NoError(t, db.Close())
}

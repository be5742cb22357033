package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
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

func TestOptionWithoutSeekCompactions(t *testing.T) {
	for _, before := range []bool{false, true} {
		o := &opt.Options{DisableSeeksCompaction: before}
		require.NoError(t, goleveldb.Configure(o, bloom(t, 10)))
		require.Equal(t, before, o.DisableSeeksCompaction)
		require.NoError(t, goleveldb.Configure(o, bloom(t, 10), goleveldb.WithoutSeekCompactions()))
		require.True(t, o.DisableSeeksCompaction)
	}
}

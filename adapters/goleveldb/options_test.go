package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
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
		require.ErrorContains(t, err, fmt.Sprintf("WithFilterBaseLg(%d): pass 11 to 31, ", lg))
		require.Equal(t, &opt.Options{FilterBaseLg: 14}, o)
	}
}

// Options may have a filter already, or be configured again.
func TestWithoutSeekCompactions(t *testing.T) {
	p := bloom(t, 10)
	for _, o := range []*opt.Options{
		{}, {Filter: filter.NewBloomFilter(10)}, {AltFilters: []filter.Filter{foreign("a")}},
		configured(t, nil, ribbon(t)),
	} {
		require.NoError(t, goleveldb.Configure(o, p, goleveldb.WithoutSeekCompactions()))
		require.True(t, o.DisableSeeksCompaction)
		require.NoError(t, goleveldb.Configure(o, p))
		require.True(t, o.DisableSeeksCompaction, "what is set stays set")
	}
}

package sstable_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// goleveldb's table without keys has a data block all the same, and with small windows an empty
// filter for it.
func TestGoLevelDBTableWithoutKeys(t *testing.T) {
	p := policytest.Must(policy.NewBloom(10))
	for baseLg := 1; baseLg <= 11; baseLg++ {
		var file bytes.Buffer
		w := table.NewWriter(&file, &opt.Options{Filter: goleveldb.New(p), FilterBaseLg: baseLg}, nil, 0)
		require.NoError(t, w.Close())
		opened := openTable(t, file.Bytes())
		require.Equal(t, 1, opened.Blocks())
		_, err := opened.Filter(p)
		require.NoError(t, err, "base_lg %d", baseLg)
	}
}

package goleveldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

func TestTorture(t *testing.T) {
	torture.Run(t, torture.Target{
		OnDisk: func(t testing.TB, f *torture.Faults) enginetest.Engine {
			files, err := storage.OpenFile("db", false)
			require.NoError(t, err)
			return suiteEngine{faultyStorage{files, f}}
		},
		Volatile: func(testing.TB) torture.Volatile { return volatileOn(newForgetful()) },
	})
}

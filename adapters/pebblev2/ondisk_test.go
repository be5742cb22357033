package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// FiltersOnDisk counts the tables by the names of their filters.
func TestFiltersOnDisk(t *testing.T) {
	_, err := pebblev2.FiltersOnDisk(nil)
	require.ErrorContains(t, err, "pass one that pebble.Open returned")

	dir, keys := t.TempDir(), enginetest.Keys(enginetest.Rand(t, 113), 40)
	var db *pebble.DB
	for i, name := range []string{"", "a", "b", "b"} {
		o := resting(small(pebble.FormatNewest))
		if name != "" {
			o = configured(t, o, bloom(t, 10, policy.WithName(name)))
		}
		db = open(t, dir, o)
		put(t, db, keys[10*i:][:10])
		if i < 3 {
			require.NoError(t, db.Close())
		}
	}
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	size := uint64(len(filterOf(bloom(t, 10), keys[:10]))) // the same for any ten keys
	require.Equal(t,
		pebblev2.LevelFilters{ByName: map[string]int{"a": 1, "b": 2}, Bytes: 3 * size, None: 1,
			Marked: 3},
		levels[0])
	require.Equal(t, pebblev2.LevelFilters{ByName: map[string]int{}}, levels[1])
	require.NoError(t, db.Close())
}

// A table that replaces keys in the middle of another leaves two virtual ones of that.
func TestFiltersOnDiskVirtual(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	p := bloom(t, 10)
	db := open(t, "db", resting(configured(t, o, p)))
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	put(t, db, keys)
	compact(t, db)
	excised := []enginetest.Change{{Key: keys[1]}}
	require.NoError(t, writeTableFor(db, o, "table", excised))
	require.NoError(t, ingestAndExcise(db, "table", keys[1], keys[2]))
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	size := len(filterOf(p, keys)) // the same for one key
	require.Equal(t, pebblev2.LevelFilters{
		ByName: map[string]int{policy.Name: 3 - hidden}, Bytes: uint64((3 - hidden) * size),
		Marked: 3 - hidden, Unknown: hidden,
	}, levels[6])
	require.NoError(t, db.Close())
}

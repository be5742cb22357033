package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// smallTables makes a small database have many tables, and blocks that share a filter.
func smallTables() *opt.Options {
	return &opt.Options{
		NoSync:                        true, // no test pulls the plug, and a sync may take long
		BlockSize:                     1 << 10,
		WriteBuffer:                   32 << 10,
		CompactionTableSize:           16 << 10,
		CompactionTotalSize:           32 << 10,
		CompactionTotalSizeMultiplier: 4,
	}
}

// level0Only keeps every table where a flush puts it.
func level0Only() *opt.Options {
	o := smallTables()
	o.CompactionL0Trigger, o.WriteL0SlowdownTrigger, o.WriteL0PauseTrigger = 1<<20, 1<<20, 1<<20
	o.DisableSeeksCompaction = true
	return o
}

// fill writes n random keys, some of them again, and deletes some.
func (e entries) fill(t testing.TB, db *leveldb.DB, seed int64, n int) {
	rng := policytest.Rand(t, seed)
	keys := policytest.Keys(rng, n)
	for i, key := range keys {
		e.put(t, db, key, []byte(fmt.Sprintf("value %d of %d", i, seed)))
		switch again := keys[rng.Intn(i+1)]; i % 10 {
		case 3, 6:
			e.put(t, db, again, []byte(fmt.Sprintf("new value %d of %d", i, seed)))
		case 9:
			e.delete(t, db, again)
		}
	}
}

// Filters for windows of any size, as FilterBaseLg sets them, and for whole tables.
func TestDatabaseFilterBaseLg(t *testing.T) {
	for _, baseLg := range []int{10, 11, 13, 20} {
		t.Run(fmt.Sprint(baseLg), func(t *testing.T) {
			dir := t.TempDir()
			content := entries{}
			p := bloom(t, 10, policy.WithName("mine"))
			o := configured(t, &opt.Options{FilterBaseLg: baseLg}, p)
			db := open(t, dir, o)
			content.fill(t, db, 8, 3000)
			require.NoError(t, db.CompactRange(util.Range{}))
			require.NoError(t, db.Close())

			honest := &spy{Policy: p}
			db = openReadOnly(t, dir, honest)
			require.Zero(t, content.lost(t, db))
			require.EqualValues(t, len(content), honest.asked.Load())
			require.NoError(t, db.Close())

			liar := &spy{Policy: p, lies: true}
			db = openReadOnly(t, dir, liar)
			require.Equal(t, len(content), content.lost(t, db))
			require.NoError(t, db.Close())
		})
	}
}

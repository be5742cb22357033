package goleveldb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
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
	rng := seeded(t, seed)
	keys := randomKeys(rng, n)
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

// Every key is found through the filters, in level 0, after a compaction, and with tables in several levels; and the
// check notices a filter that answers "absent" wrongly.
func TestDatabase(t *testing.T) {
	const n = 12_000 // more than what two levels of small tables may hold
	for _, c := range []struct {
		name    string
		options *opt.Options
		settle  func(t *testing.T, db *leveldb.DB) // nil, or called before the database is closed
		shape   func(t *testing.T, tables []int)
	}{
		{"level 0", level0Only(), nil, func(t *testing.T, tables []int) {
			require.Len(t, tables, 1)
			require.Greater(t, tables[0], 5)
		}},
		{"compacted", smallTables(), func(t *testing.T, db *leveldb.DB) {
			require.NoError(t, db.CompactRange(util.Range{}))
		}, func(t *testing.T, tables []int) {
			require.Zero(t, tables[0])
			require.Greater(t, len(tables), 1)
			require.Greater(t, tables[len(tables)-1], 5)
		}},
		{"several levels", smallTables(), func(t *testing.T, db *leveldb.DB) {
			// Compactions go on by themselves until every level is within its limit.
			require.Eventually(t, func() bool { return levelsInUse(tablesPerLevel(t, db)) >= 3 }, time.Minute, 10*time.Millisecond)
		}, func(t *testing.T, tables []int) {
			require.GreaterOrEqual(t, levelsInUse(tables), 3)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := bloom(t, 10)
			o := configured(t, c.options, p)
			content := entries{}

			db := open(t, dir, o)
			content.fill(t, db, 6, n)
			require.NoError(t, db.Close())
			db = open(t, dir, o) // replays the log: everything is in tables now
			if c.settle != nil {
				c.settle(t, db)
			}
			require.NoError(t, db.Close())

			honest := &spy{Policy: p}
			db = openReadOnly(t, dir, honest)
			c.shape(t, tablesPerLevel(t, db))
			require.Zero(t, content.lost(t, db))
			require.GreaterOrEqual(t, honest.asked.Load(), int64(len(content)), "each key is found in a table with a filter")

			// Absent keys: what the filter is for.
			honest.asked.Store(0)
			honest.absent.Store(0)
			for _, key := range randomKeys(seeded(t, 7), 2000) {
				_, err := db.Get(key, nil)
				require.ErrorIs(t, err, leveldb.ErrNotFound)
			}
			require.Greater(t, honest.asked.Load(), int64(1900))
			require.Greater(t, honest.absent.Load(), honest.asked.Load()*95/100)
			require.NoError(t, db.Close())

			liar := &spy{Policy: p, lies: true}
			db = openReadOnly(t, dir, liar)
			require.Equal(t, len(content), content.lost(t, db))
			require.Equal(t, liar.asked.Load(), liar.absent.Load())
			require.NoError(t, db.Close())
		})
	}
}

// levelsInUse returns the number of levels with tables.
func levelsInUse(tables []int) (n int) {
	for _, count := range tables {
		if count > 0 {
			n++
		}
	}
	return n
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

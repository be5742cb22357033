package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// C++ LevelDB and goleveldb's own filter read a database of tuned filters, find every key, and have
// the low rate of false positives between dense keys.
func TestTuned(t *testing.T) {
	const name = policy.NameGoLevelDB
	var present, keys [][]byte // keys are the present ones, then the absent ones between them
	rng := policytest.Rand(t, 90)
	for i := 0; len(present) < 8000; i++ {
		if key := fmt.Appendf(nil, "%016d", i); rng.Float64() < 0.63 {
			present = append(present, key)
		} else if len(present) > 0 {
			keys = append(keys, key)
		}
	}
	absent := len(keys)
	keys = append(present[:len(present):len(present)], keys...)

	// rate writes a database and has it read by goleveldb's own filter, and by C++ LevelDB.
	rate := func(p policy.Policy) float64 {
		dir, content := t.TempDir(), entries{}
		db := open(t, dir, configured(t, &opt.Options{}, p))
		for _, key := range present {
			value := make([]byte, 92)
			rng.Read(value)
			content.put(t, db, key, value)
		}
		require.NoError(t, db.CompactRange(util.Range{}))
		require.NoError(t, db.Close())

		theirs := &tally{Filter: filter.NewBloomFilter(10)}
		db = open(t, dir, &opt.Options{Filter: theirs, ReadOnly: true})
		require.Equal(t, []int{1}, tablesPerLevel(t, db)[1:2])
		require.Zero(t, content.lost(t, db))
		require.Equal(t, policy.Counters{MayContain: uint64(len(present))}, theirs.Counters)
		requireAbsent(t, db, keys[len(present):])
		require.NoError(t, db.Close())
		require.EqualValues(t, len(keys), theirs.Checks())

		t.Run("C++", func(t *testing.T) {
			found, asked, answeredAbsent := buildCpp(t).read(t, dir, name, keys)
			require.Equal(t, content, found)
			require.EqualValues(t, theirs.Checks(), asked)
			require.EqualValues(t, theirs.ReadsAvoided, answeredAbsent)
		})
		return 1 - float64(theirs.ReadsAvoided)/float64(absent)
	}
	exact := rate(bloom(t, 10, policy.WithName(name)))
	tuned := rate(bloom(t, 10, policy.WithName(name), policy.WithTuning(0.05)))
	t.Logf("false positives: exact %.2f %%, tuned %.2f %%", 100*exact, 100*tuned)
	require.Greater(t, exact, 0.02)
	require.Less(t, tuned, 0.01)
	require.Positive(t, tuned)
}

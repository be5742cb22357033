package pebblev2_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"
)

// Rewrite bears with CockroachDB's comparer, key schema and collectors, which parse what they get.
// Versions above and below one are found, whole keys are not all that is in the filters.
func TestRewriteCockroach(t *testing.T) {
	key := func(i, version int) []byte {
		return cockroachkvs.EncodeMVCCKey(nil, fmt.Appendf(nil, "k%05d", i), uint64(version), 0)
	}
	var keys, absent [][]byte
	for i := range 3000 {
		if i%10 == 0 {
			keys = append(keys, key(i, 0)) // without a version, as those of intents
		}
		keys = append(keys, key(i, 2+i%7))
		absent = append(absent, key(10_000+i, 2+i%7), key(i, 1))
	}
	for _, format := range formats {
		for _, ranges := range []bool{false, true} {
			for _, snapshots := range []bool{false, true} {
				t.Run(fmt.Sprint(format, ranges, snapshots), func(t *testing.T) {
					comparer, schema := cockroachkvs.Comparer, cockroachkvs.KeySchema
					o := flat(small(format), 16<<10)
					o.Comparer, o.KeySchema = &comparer, schema.Name
					o.KeySchemas = sstable.MakeKeySchemas(&schema)
					o.BlockPropertyCollectors = cockroachkvs.BlockPropertyCollectors
					db := open(t, "db", o)
					put(t, db, keys)
					if ranges {
						require.NoError(t, db.RangeKeySet(key(10, 0), key(2000, 0),
							cockroachkvs.NewTimestampSuffix(5, 0), nil, nil))
					}
					require.NoError(t, db.Flush())
					require.NoError(t, compactRange(db, key(0, 0), key(99_999, 0)))
					require.NoError(t, db.Close())

					db = open(t, "db", configured(t, o, ribbon(t, 10)))
					before := rangesAndKeys(t, db)
					if snapshots {
						defer func(s *pebble.Snapshot) { require.NoError(t, s.Close()) }(db.NewSnapshot())
					}
					requireRewritten(t, o, db)
					requireNothingToRewrite(t, o, db)
					require.Equal(t, before, rangesAndKeys(t, db))
					requireLookups(t, db, keys, absent)
					requireSound(t, db)
				})
			}
		}
	}
}

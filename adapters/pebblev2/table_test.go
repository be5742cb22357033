package pebblev2_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// capture returns a spy on p, and where it keeps a copy of the last filter it was asked about.
func capture(p policy.Policy) (s *spy, filter *[]byte) {
	filter = new([]byte)
	s = &spy{Policy: p, saw: func(f, _ []byte) { *filter = append((*filter)[:0], f...) }}
	return s, filter
}

func sorted(keys [][]byte) [][]byte {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

func TestIngestedTable(t *testing.T) {
	keys := sorted(policytest.Keys(policytest.Rand(t, 11), 1000))
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "table")
			p := bloom(t, 12)
			s, filter := capture(p)
			db := open(t, filepath.Join(dir, "db"), configured(t, small(format), s))
			writeTable(t, path, tableFormat(db), pebblev2.New(p), keys)
			require.NoError(t, ingest(db, path))
			require.Equal(t, []string{policy.Name}, tables(t, db)[6])

			require.Zero(t, lostBySeek(t, db, keys))
			require.EqualValues(t, len(keys), s.asked.Load())
			require.Equal(t, p.AppendFilter(nil, keys), *filter)
			require.NoError(t, db.Close())
		})
	}
}

// Pebble adds a key once per version, but the filter counts it once.
func TestVersionsOfAKeyCountOnce(t *testing.T) {
	keys := sorted(policytest.Keys(policytest.Rand(t, 12), 15))
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			p := bloom(t, 10)
			s, filter := capture(p)
			db := open(t, t.TempDir(), resting(configured(t, small(format), s)))
			const versions = 5
			var snapshots []*pebble.Snapshot
			for range versions {
				for _, key := range keys {
					require.NoError(t, db.Set(key, value(key), pebble.NoSync))
				}
				snapshots = append(snapshots, db.NewSnapshot()) // keeps this version
			}
			require.NoError(t, db.Flush())
			levels, err := db.SSTables(pebble.WithProperties())
			require.NoError(t, err)
			require.Len(t, levels[0], 1, "one table")
			require.EqualValues(t, versions*len(keys), levels[0][0].Properties.NumEntries)

			require.Zero(t, lostByGet(t, db, keys))
			require.Equal(t, p.AppendFilter(nil, keys), *filter)
			for _, snapshot := range snapshots {
				require.NoError(t, snapshot.Close())
			}
			require.NoError(t, db.Close())
		})
	}
}

// equalHashes returns two different keys with the same hash, in order.
func equalHashes(t testing.TB) [][]byte {
	seen := map[uint32]uint64{}
	for i := uint64(0); ; i++ {
		b := binary.BigEndian.AppendUint64(nil, i*0x9e3779b97f4a7c15)
		h := policy.Hash(b)
		if j, ok := seen[h]; ok {
			a := binary.BigEndian.AppendUint64(nil, j*0x9e3779b97f4a7c15)
			require.NotEqual(t, a, b)
			return sorted([][]byte{a, b})
		}
		seen[h] = i
	}
}

// A key whose hash equals that of the key before does not count, as in Pebble's own policy. Nor is
// it lost.
func TestKeysOfEqualHashCountOnce(t *testing.T) {
	keys := equalHashes(t)
	p := bloom(t, 100) // one key has 13 bytes and k, two have 25
	for _, format := range tableFormats() {
		t.Run(format.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			writeTable(t, path, format, pebblev2.New(p), keys)
			s, filter := capture(p)
			filters := map[string]pebble.FilterPolicy{s.Name(): pebblev2.New(s)}
			require.Zero(t, lostInTable(t, path, filters, keys))
			require.Len(t, *filter, 13+1)
			require.Equal(t, p.AppendFilter(nil, keys[:1]), *filter)
		})
	}
}

// The filter of a table that has only range deletions is empty.
func TestTableWithoutPoints(t *testing.T) {
	for _, format := range tableFormats() {
		t.Run(format.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			p := bloom(t, 10)
			deleted := [][2]string{{"b", "c"}, {"d", "e"}}
			writeTable(t, path, format, pebblev2.New(p), nil, deleted...)
			s, filter := capture(p)
			filters := map[string]pebble.FilterPolicy{s.Name(): pebblev2.New(s)}
			*filter = []byte("not asked")
			require.Equal(t, 1, lostInTable(t, path, filters, [][]byte{[]byte("c")}))
			require.Empty(t, *filter)
			require.EqualValues(t, 1, s.asked.Load())
		})
	}
}

func TestRangeDeletions(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			db := open(t, t.TempDir(), resting(configured(t, small(format), bloom(t, 10))))
			keys := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e")}
			put(t, db, keys)
			require.NoError(t, db.DeleteRange([]byte("b"), []byte("c"), pebble.NoSync))
			require.NoError(t, db.DeleteRange([]byte("d"), []byte("e"), pebble.NoSync))
			require.NoError(t, db.Flush())
			require.Equal(t, []string{policy.Name}, tables(t, db)[0])

			deleted, kept := [][]byte{keys[1], keys[3]}, [][]byte{keys[0], keys[2], keys[4]}
			require.Zero(t, lostByGet(t, db, kept))
			require.Zero(t, lostBySeek(t, db, kept))
			require.Equal(t, len(deleted), lostByGet(t, db, deleted))
			require.Equal(t, len(deleted), lostBySeek(t, db, deleted))
			require.NoError(t, db.Close())
		})
	}
}

package tables_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// pebbleReads returns Pebble's own answer.
func pebbleReads(filter, key []byte) bool {
	return bloom.FilterPolicy(10).MayContain(sstable.TableFilter, filter, key)
}

// At few bits absent keys pass too.
func TestBuiltinAnswersAsPebble(t *testing.T) {
	for _, n := range []int{1, 30, 3000} {
		for _, bits := range []int{1, 3, 10, 50} {
			keys := policytest.Keys(policytest.Rand(t, int64(n)), 2*n)
			filter := pebbleOwn(bits, keys[:n])
			name, err := tables.PebbleFilters.Parse(filter)
			require.NoError(t, err)
			require.Equal(t, "Pebble Bloom", name)
			for i, key := range keys {
				got := tables.PebbleFilters.MayContain(filter, key)
				require.Equal(t, pebbleReads(filter, key), got, "key %x", key)
				require.True(t, got || i >= n, "key %x is lost", key)
			}
		}
	}
}

func TestBuiltinMalformed(t *testing.T) {
	filter := func(bytes int, k byte, lines uint32) []byte {
		return binary.LittleEndian.AppendUint32(append(make([]byte, bytes), k), lines)
	}
	for name, c := range map[string]struct {
		filter []byte
		may    bool
	}{
		"no bytes":                 {nil, false},
		"too short for a trailer":  {[]byte{1, 0, 0, 0}, false},
		"no lines, as Pebble":      {pebbleOwn(10, nil), false},
		"no lines, none announced": {filter(0, 6, 0), false},
		"no lines, one announced":  {filter(0, 6, 1), false},
		"lines but none announced": {filter(64, 6, 0), true},
		"fewer than announced":     {filter(64, 6, 2), true},
		"far fewer than announced": {filter(64, 6, math.MaxUint32), true},
		"a part of a line":         {filter(100, 6, 1), true},
		"longer lines":             {filter(128, 6, 1), true},
		"a sum of 2^32":            {filter(64, 6, 1<<26+1), true},
		"no probes":                {filter(64, 0, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range policytest.Keys(policytest.Rand(t, 4), 30) {
				require.Equal(t, c.may, tables.PebbleFilters.MayContain(c.filter, key))
				if !c.may {
					require.False(t, pebbleReads(c.filter, key))
				}
			}
			_, err := tables.PebbleFilters.Parse(c.filter)
			require.ErrorContains(t, err, map[bool]string{
				true:  "not a Pebble Bloom filter: every key may be contained",
				false: "matches no key",
			}[c.may])
		})
	}
}

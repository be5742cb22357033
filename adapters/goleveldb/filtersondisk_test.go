package goleveldb_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// diskFilter is what a table on disk says of its filters; the zero value is a table without.
type diskFilter struct {
	name     string
	encoding policy.Encoding
	baseLg   byte
}

// nameSpy is a filter that notes that it was asked, and for which filter.
type nameSpy struct {
	foreign
	seen *diskFilter
}

func (s nameSpy) Contains(filter, _ []byte) bool {
	info, _ := policy.Parse(filter)
	s.seen.name, s.seen.encoding = s.Name(), info.Encoding
	return true
}

// filterOnDisk looks at the filters of a database's table through goleveldb's reader.
func filterOnDisk(t testing.TB, data []byte) diskFilter {
	var seen diskFilter
	o := &opt.Options{}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine", "another", "a third"} {
		o.AltFilters = append(o.AltFilters, nameSpy{foreign(name), &seen})
	}
	r := openTable(t, data, goleveldb.TableOptions(o))
	defer r.Release()
	it := r.NewIterator(nil, nil)
	defer it.Release()
	require.True(t, it.First())
	_, _, err := r.Find(it.Key(), true, nil)
	require.NoError(t, err)
	if seen.name != "" {
		// The filter block ends with its base, and is followed by 5 bytes of trailer and the
		// metaindex block, whose offset begins the footer of 48 bytes.
		metaindex, n := binary.Uvarint(data[len(data)-48:])
		require.Positive(t, n)
		seen.baseLg = data[metaindex-5-1]
	}
	return seen
}

// filtersOnDisk counts the tables of a closed database by their filters.
func filtersOnDisk(t testing.TB, dir string) map[diskFilter]int {
	count := map[diskFilter]int{}
	for _, data := range readTables(t, dir) {
		count[filterOnDisk(t, data)]++
	}
	return count
}

var _ filter.Filter = nameSpy{}

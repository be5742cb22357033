package goleveldb_test

import (
	"bytes"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// BenchmarkWriteTable compares goleveldb's table writer, with its default settings, with filters of
// 10 bits per key and without, to the one with goleveldb's own filter.
//
//	go test ./adapters/goleveldb -run '^$' -bench WriteTable
func BenchmarkWriteTable(b *testing.B) {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		b.Fatal(err)
	}
	bloom, err := policy.NewBloom(10)
	if err != nil {
		b.Fatal(err)
	}
	var memory bytes.Buffer
	way := func(name string, f filter.Filter) enginetest.WayToWrite {
		return enginetest.WayToWrite{Name: name, Write: func(keys, values [][]byte) error {
			memory.Reset()
			w := table.NewWriter(&memory, &opt.Options{Filter: f}, nil, 0)
			for i, key := range keys {
				if err := w.Append(key, values[i]); err != nil {
					return err
				}
			}
			return w.Close()
		}}
	}
	enginetest.BenchWrites(b, []enginetest.WayToWrite{
		way("own", filter.NewBloomFilter(10)), way("none", nil),
		way("bloom", goleveldb.New(bloom)), way("ribbon", goleveldb.New(ribbon)),
	})
}

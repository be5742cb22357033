package goleveldb_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

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

// BenchmarkCopy compares ExampleConfigure_copy to a full compaction.
//
//	go test ./adapters/goleveldb -run '^$' -bench Copy -benchtime 1x
func BenchmarkCopy(b *testing.B) {
	o := configured(b, &opt.Options{DisableSeeksCompaction: true}, ribbon(b))
	enginetest.BenchCopy(b, enginetest.Renewal{
		Write: func(dir string, keys, values [][]byte, compacted bool) error {
			db := open(b, dir, nil)
			for i, key := range keys {
				require.NoError(b, db.Put(key, values[i], nil))
			}
			if compacted {
				require.NoError(b, db.CompactRange(util.Range{}))
			}
			return db.Close()
		},
		Copy: func(from, to string) error { return copyDatabase(from, to, o) },
		Compact: func(dir string) error {
			db := open(b, dir, o)
			return errors.Join(db.CompactRange(util.Range{}), db.Close())
		},
		Tables: func(dir string) (all, renewed int, err error) {
			require.NoError(b, open(b, dir, o).Close()) // writes the log to tables
			files, err := storage.OpenFile(dir, true)
			require.NoError(b, err)
			tables := openTables(b, files)
			for _, t := range tables {
				if len(t.Filters()) > 0 {
					renewed++
				}
			}
			return len(tables), renewed, files.Close()
		},
	})
}

package goleveldb_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
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

// BenchmarkRewrite compares the ways to give filters to a database that exists.
//
//	go test ./adapters/goleveldb -run '^$' -bench Rewrite -benchtime 1x -timeout 0
func BenchmarkRewrite(b *testing.B) {
	enginetest.BenchRewrite(b, func(dir string, filters bool) enginetest.Renewable {
		o := &opt.Options{DisableSeeksCompaction: true, OpenFilesCacheCapacity: 10_000,
			BlockCacheCapacity: 64 << 20}
		if filters {
			configured(b, o, ribbon(b))
		}
		return &renewable{open(b, dir, o), b, o, dir}
	})
}

type renewable struct {
	*leveldb.DB
	b   *testing.B
	o   *opt.Options
	dir string
}

func (d *renewable) Has(key []byte) (bool, error) { return d.DB.Has(key, nil) }

func (d *renewable) Put(key, value []byte) error { return d.DB.Put(key, value, nil) }

func (d *renewable) Rewrite() error {
	return goleveldb.Rewrite(context.Background(), d.o, d.DB, nil)
}

func (d *renewable) Compact() error { return d.CompactRange(util.Range{}) }

// Copy copies all entries in their order.
func (d *renewable) Copy(dir string) (enginetest.Renewable, error) {
	target := &renewable{open(d.b, dir, d.o), d.b, d.o, dir}
	entries := d.NewIterator(nil, nil)
	defer entries.Release()
	for entries.Next() {
		if err := target.Put(entries.Key(), entries.Value()); err != nil {
			return target, err
		}
	}
	return target, entries.Error()
}

func (d *renewable) Traffic() (read, written int64) {
	var stats leveldb.DBStats
	require.NoError(d.b, d.Stats(&stats))
	return int64(stats.IORead), int64(stats.IOWrite)
}

func (d *renewable) Close() (tables, renewed int, err error) {
	require.NoError(d.b, d.DB.Close())
	files, err := storage.OpenFile(d.dir, true)
	require.NoError(d.b, err)
	all := openTables(d.b, files)
	for _, t := range all {
		if len(t.Filters()) > 0 {
			renewed++
		}
	}
	return len(all), renewed, files.Close()
}

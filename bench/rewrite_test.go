package main

import (
	"bytes"
	"context"
	"crypto/sha512"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var present = flag.Int("keys", 1_000_000, "keys of 216 bytes each, in BenchmarkRewrite's database")

// renewable is a database whose new tables have filters that old ones may lack.
type renewable struct {
	has     func(key []byte) (bool, error)
	put     func(key, value []byte) error
	each    func(do func(key, value []byte) error) error // entry
	rewrite func() error
	flush   func() error
	compact func() error // all keys
	settle  func() error
	written func() int64 // bytes
	filters func() int64 // bytes
	close   func() error
}

// BenchmarkRewrite compares ways to give filters to a database that was written without: a copy and
// Rewrite while it is in use, and Rewrite at rest. "In levels", it was not compacted before. Keys
// and values are random. Each way has a database of its own. In use, it is asked for a key about 900
// times a second, or gets a new one. The metrics are the bytes written and the disk space at its
// peak, per byte of the database; the 99th percentile of the times of these calls, relative to ten
// seconds before; the time relative to the copy's; and the seconds for a GB.
//
//	go test ./bench -run '^$' -bench Rewrite -benchtime 1x -timeout 0
func BenchmarkRewrite(b *testing.B) {
	b.Run("goleveldb", func(b *testing.B) { benchRewrite(b, openGoleveldb) })
	b.Run("pebblev2", func(b *testing.B) { benchRewrite(b, openPebble) })
}

func benchRewrite(b *testing.B,
	open func(b *testing.B, dir, filter string, log bool) renewable) {
	rng, value, keys := testkit.Rand(b, 1), make([]byte, 200), 0
	put := func(db renewable) {
		rng.Read(value)
		require.NoError(b, db.put(numbered(keys), value))
		keys++
	}
	fill := func(compacted bool) (dir string) {
		dir, keys = b.TempDir(), 0
		db := open(b, dir, engines.None, true)
		for keys < *present {
			put(db)
		}
		if compacted {
			require.NoError(b, db.compact())
		}
		require.NoError(b, db.close())
		return dir
	}
	merged, leveled, copied := fill(true), fill(false), 0.0
	for _, way := range []struct {
		name, old string
		inUse     bool
	}{
		{"copy", merged, true}, {"rewrite", merged, true}, {"at rest", merged, false},
		{"in levels", leveled, false},
	} {
		b.Run(way.name, func(b *testing.B) {
			dir := b.TempDir()
			require.NoError(b, os.CopyFS(filepath.Join(dir, "old"), os.DirFS(way.old)))
			db := open(b, filepath.Join(dir, "old"), "ribbon", true)
			keys = *present
			size, peak := sizeOf(dir), 0.0
			p99 := func(work func() error) float64 { // of the calls meanwhile
				done, times := make(chan error), []float64{0}
				go func() { done <- work() }()
				for turn := 0; ; turn++ {
					if turn%100 == 0 {
						peak = max(peak, sizeOf(dir))
					}
					n, start := rng.Intn(2*keys), time.Now()
					if !way.inUse {
					} else if n%2 == 0 {
						put(db)
					} else if found, err := db.has(numbered(n)); err != nil || found != (n < keys) {
						b.Fatal(n, found, err)
					}
					times = append(times, time.Since(start).Seconds())
					select {
					case err := <-done:
						require.NoError(b, err)
						slices.Sort(times)
						return times[len(times)*99/100]
					case <-time.After(time.Millisecond):
					}
				}
			}
			work, written, end := db.rewrite, db.written, db.close
			if way.name == "copy" {
				other := open(b, filepath.Join(dir, "copy"), "ribbon", false)
				work = func() error { return errors.Join(db.each(other.put), other.flush()) }
				written = func() int64 { return db.written() + other.written() }
				end = func() error { return errors.Join(db.close(), other.close()) }
			}
			before := 0.0
			if way.inUse {
				before = p99(func() error { time.Sleep(10 * time.Second); return nil })
			}
			start, former := time.Now(), written()
			during := p99(work)
			seconds := time.Since(start).Seconds()
			if way.inUse {
				b.ReportMetric(during/before, "p99")
			}
			if way.name == "copy" {
				copied = seconds
			}
			b.ReportMetric(float64(written()-former)/size, "written")
			b.ReportMetric(max(peak, sizeOf(dir))/size, "disk")
			b.ReportMetric(seconds/copied, "s/copy")
			b.ReportMetric(seconds/size*1e9, "s/GB")
			require.NoError(b, end())
			b.ReportMetric(0, "ns/op")
		})
	}
}

func numbered(i int) []byte {
	sum := sha512.Sum512(fmt.Append(nil, i))
	return sum[:16]
}

// sizeOf returns the size of the files in the directories of dir.
func sizeOf(dir string) (size float64) {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil { // it was not removed meanwhile
			size += float64(info.Size())
		}
	}
	return size
}

// smallWindows after a filter's name leaves goleveldb's windows as they are by default.
const smallWindows = ",2KiB"

func openGoleveldb(b *testing.B, dir, name string, _ bool) renewable {
	o := &opt.Options{DisableSeeksCompaction: true, OpenFilesCacheCapacity: 10_000,
		BlockCacheCapacity: 64 << 20}
	switch name {
	case engines.None:
	case engines.BuiltIn:
		o.Filter = filter.NewBloomFilter(filters.Bits)
	default:
		name, small := strings.CutSuffix(name, smallWindows)
		if !small {
			o.FilterBaseLg = 16
		}
		p := testkit.Must(filters.PolicyOf(name, filters.Bits))
		require.NoError(b, goleveldb.Configure(o, p))
	}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(b, err)
	return renewable{
		has: func(key []byte) (bool, error) { return db.Has(key, nil) },
		put: func(key, value []byte) error { return db.Put(key, value, nil) },
		each: func(do func(key, value []byte) error) (err error) {
			entries := db.NewIterator(nil, nil)
			defer entries.Release()
			for err == nil && entries.Next() {
				err = do(entries.Key(), entries.Value())
			}
			return errors.Join(err, entries.Error())
		},
		rewrite: func() error { return goleveldb.Rewrite(context.Background(), o, db, nil) },
		flush:   func() error { return nil },
		compact: func() error { return db.CompactRange(util.Range{}) },
		settle:  func() error { return engines.SettleGoLevelDB(context.Background(), o, db) },
		written: func() int64 {
			var stats leveldb.DBStats
			require.NoError(b, db.Stats(&stats))
			return int64(stats.IOWrite)
		},
		filters: func() (size int64) {
			property := testkit.Must(db.GetProperty("leveldb.sstables"))
			for _, line := range strings.Split(property, "\n") {
				var number, length int
				if n, _ := fmt.Sscanf(line, "%d:%d[", &number, &length); n < 2 {
					continue // it begins a level
				}
				file := testkit.Must(os.ReadFile(fmt.Sprintf("%s/%06d.ldb", dir, number)))
				t, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
				require.NoError(b, err)
				for _, f := range t.Filters() {
					size += int64(f.Handle.Length)
				}
			}
			return size
		},
		close: db.Close,
	}
}

type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

func openPebble(b *testing.B, dir, name string, log bool) renewable {
	o := &pebble.Options{Logger: quiet{pebble.DefaultLogger}, CacheSize: 64 << 20, DisableWAL: !log}
	switch name {
	case engines.None:
	case engines.BuiltIn:
		o.Levels[0].FilterPolicy = bloom.FilterPolicy(filters.Bits) // the others inherit it
	default:
		p := testkit.Must(filters.PolicyOf(name, filters.Bits))
		require.NoError(b, pebblev2.Configure(o, p))
	}
	db, err := pebble.Open(dir, o)
	require.NoError(b, err)
	return renewable{
		has: func(key []byte) (bool, error) { return pebblev2.Has(db, key) },
		put: func(key, value []byte) error { return db.Set(key, value, pebble.NoSync) },
		each: func(do func(key, value []byte) error) error {
			entries, err := db.NewIter(nil)
			for ok := err == nil && entries.First(); ok && err == nil; ok = entries.Next() {
				err = do(entries.Key(), entries.Value())
			}
			return errors.Join(err, entries.Close())
		},
		rewrite: func() error { return pebblev2.Rewrite(context.Background(), o, db, nil) },
		flush:   db.Flush,
		compact: func() error {
			return db.Compact(context.Background(), nil, []byte{0xff, 0xff, 0xff}, true)
		},
		settle: func() error { return engines.SettlePebbleV2(context.Background(), db) },
		written: func() (written int64) {
			m := db.Metrics()
			if log { // Pebble counts what it flushes even without
				written = int64(m.WAL.BytesWritten)
			}
			for _, l := range m.Levels {
				written += int64(l.TableBytesFlushed + l.TableBytesCompacted)
			}
			return written
		},
		filters: func() (size int64) {
			for _, tables := range testkit.Must(db.SSTables(pebble.WithProperties())) {
				for _, table := range tables {
					size += int64(table.Properties.FilterSize)
				}
			}
			return size
		},
		close: db.Close,
	}
}

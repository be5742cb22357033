package main

import (
	"context"
	"crypto/sha512"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var present = flag.Int("keys", 1_000_000, "keys of 216 bytes each, in BenchmarkRewrite's database")

// renewable is a database whose new tables may have filters that old ones lack.
type renewable interface {
	Has(key []byte) (bool, error)
	Put(key, value []byte) error
	Rewrite() error
	Copy() error    // all entries, to another database beside it
	Compact() error // all keys
	Written() int64 // bytes, with those of the copy
	Close() error
}

// BenchmarkRewrite compares ways to give filters to a database that was compacted without. Its keys
// and values are random. Each way has a database of its own, which is in use: about 900 times a
// second it is asked for a key, or gets a new one. The metrics are the bytes written and the disk
// space at its peak, per byte of the database; the 99th percentile of the times of these calls,
// relative to ten seconds before; and the time relative to the copy's.
//
//	go test ./bench -run '^$' -bench Rewrite -benchtime 1x -timeout 0
func BenchmarkRewrite(b *testing.B) {
	b.Run("goleveldb", func(b *testing.B) { benchRewrite(b, openGoleveldb) })
	b.Run("pebblev2", func(b *testing.B) { benchRewrite(b, openPebble) })
}

func benchRewrite(b *testing.B, open func(b *testing.B, dir string, filters bool) renewable) {
	old, rng, value := b.TempDir(), testkit.Rand(b, 1), make([]byte, 200)
	db, keys := open(b, old, false), 0
	put := func() {
		rng.Read(value)
		require.NoError(b, db.Put(numbered(keys), value))
		keys++
	}
	for keys < *present {
		put()
	}
	require.NoError(b, db.Compact())
	require.NoError(b, db.Close())

	var copied float64
	for _, way := range []struct {
		name string
		run  func(renewable) error
	}{
		{"copy", renewable.Copy}, {"rewrite", renewable.Rewrite},
	} {
		b.Run(way.name, func(b *testing.B) {
			dir := b.TempDir()
			require.NoError(b, os.CopyFS(filepath.Join(dir, "old"), os.DirFS(old)))
			db, keys = open(b, filepath.Join(dir, "old"), true), *present
			size, peak := sizeOf(dir), 0.0
			p99 := func(work func() error) float64 { // of the calls meanwhile
				done, times := make(chan error), []float64(nil)
				go func() { done <- work() }()
				for {
					if len(times)%100 == 0 {
						peak = max(peak, sizeOf(dir))
					}
					n, start := rng.Intn(2*keys), time.Now()
					if n%2 == 0 {
						put()
					} else if found, err := db.Has(numbered(n)); err != nil || found != (n < keys) {
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
			before := p99(func() error { time.Sleep(10 * time.Second); return nil })
			written, start := db.Written(), time.Now()
			b.ReportMetric(p99(func() error { return way.run(db) })/before, "p99")
			seconds := time.Since(start).Seconds()
			if way.name == "copy" {
				copied = seconds
			}
			b.ReportMetric(float64(db.Written()-written)/size, "written")
			b.ReportMetric(max(peak, sizeOf(dir))/size, "disk")
			b.ReportMetric(seconds/copied, "s/copy")
			require.NoError(b, db.Close())
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

func ribbon(b *testing.B) *policy.Policy {
	p, err := policy.NewRibbon(10)
	require.NoError(b, err)
	return p
}

type goleveldbDB struct {
	*leveldb.DB
	b    *testing.B
	o    *opt.Options
	dir  string
	copy renewable // or nil
}

func openGoleveldb(b *testing.B, dir string, filters bool) renewable {
	o := &opt.Options{DisableSeeksCompaction: true, OpenFilesCacheCapacity: 10_000,
		BlockCacheCapacity: 64 << 20}
	if filters {
		require.NoError(b, goleveldb.Configure(o, ribbon(b)))
	}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(b, err)
	return &goleveldbDB{DB: db, b: b, o: o, dir: dir}
}

func (d *goleveldbDB) Has(key []byte) (bool, error) { return d.DB.Has(key, nil) }

func (d *goleveldbDB) Put(key, value []byte) error { return d.DB.Put(key, value, nil) }

func (d *goleveldbDB) Rewrite() error {
	return goleveldb.Rewrite(context.Background(), d.o, d.DB, nil)
}

func (d *goleveldbDB) Compact() error { return d.CompactRange(util.Range{}) }

func (d *goleveldbDB) Copy() error {
	d.copy = openGoleveldb(d.b, d.dir+"-copy", true)
	entries := d.NewIterator(nil, nil)
	defer entries.Release()
	for entries.Next() {
		if err := d.copy.Put(entries.Key(), entries.Value()); err != nil {
			return err
		}
	}
	return entries.Error()
}

func (d *goleveldbDB) Written() int64 {
	var stats leveldb.DBStats
	require.NoError(d.b, d.Stats(&stats))
	if d.copy != nil {
		return int64(stats.IOWrite) + d.copy.Written()
	}
	return int64(stats.IOWrite)
}

func (d *goleveldbDB) Close() error {
	if d.copy != nil {
		return errors.Join(d.DB.Close(), d.copy.Close())
	}
	return d.DB.Close()
}

type pebbleDB struct {
	*pebble.DB
	b    *testing.B
	o    *pebble.Options
	dir  string
	copy *pebbleDB // or nil
}

type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

func openPebble(b *testing.B, dir string, filters bool) renewable {
	o := &pebble.Options{Logger: quiet{pebble.DefaultLogger}, CacheSize: 64 << 20}
	if filters {
		require.NoError(b, pebblev2.Configure(o, ribbon(b)))
	}
	db, err := pebble.Open(dir, o)
	require.NoError(b, err)
	return &pebbleDB{DB: db, b: b, o: o, dir: dir}
}

func (d *pebbleDB) Has(key []byte) (bool, error) { return pebblev2.Has(d.DB, key) }

func (d *pebbleDB) Put(key, value []byte) error { return d.Set(key, value, pebble.NoSync) }

func (d *pebbleDB) Rewrite() error {
	return pebblev2.Rewrite(context.Background(), d.o, d.DB, nil)
}

func (d *pebbleDB) Compact() error {
	return d.DB.Compact(context.Background(), nil, []byte{0xff, 0xff, 0xff}, true)
}

func (d *pebbleDB) Copy() error {
	o := d.o.Clone()
	o.DisableWAL = true // at the end, Flush writes all to tables
	db, err := pebble.Open(d.dir+"-copy", o)
	require.NoError(d.b, err)
	d.copy = &pebbleDB{DB: db, b: d.b, o: o}
	entries, err := d.NewIter(nil)
	require.NoError(d.b, err)
	for entries.First(); entries.Valid(); entries.Next() {
		if err := d.copy.Put(entries.Key(), entries.Value()); err != nil {
			return errors.Join(err, entries.Close())
		}
	}
	return errors.Join(entries.Close(), db.Flush())
}

func (d *pebbleDB) Written() int64 {
	m, written := d.Metrics(), int64(0)
	if !d.o.DisableWAL { // Pebble counts what it flushes even then
		written = int64(m.WAL.BytesWritten)
	}
	for _, l := range m.Levels {
		written += int64(l.TableBytesFlushed + l.TableBytesCompacted)
	}
	if d.copy != nil {
		written += d.copy.Written()
	}
	return written
}

func (d *pebbleDB) Close() error {
	if d.copy != nil {
		return errors.Join(d.DB.Close(), d.copy.Close())
	}
	return d.DB.Close()
}

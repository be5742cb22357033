package pebblev1

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/sstable"
)

// checkCompression returns an error if a level of o compresses with zstd and this program cannot
// read what it writes with that. Entries past the last level have no effect, and levels past the
// last entry compress as that does. Without entries, Pebble compresses with Snappy.
func checkCompression(o *pebble.Options) error {
	zstd := func(l pebble.LevelOptions) bool { return l.Compression == pebble.ZstdCompression }
	if !slices.ContainsFunc(o.Levels[:min(len(o.Levels), numLevels)], zstd) {
		return nil
	}
	if err := readZstd(); err != nil {
		return fmt.Errorf("pebblev1: a level compresses with zstd, which this program can write but "+
			"not read (%w): build it with CGO_ENABLED=0, or with github.com/DataDog/zstd v1.4.5 if "+
			"it does not use Pebble v2, or change to Pebble v2; adapters/README.md says how", err)
	}
	return nil
}

// readZstd writes a table that is compressed with zstd, and returns the error with which it is
// read. It does so once per process.
//
// Pebble v1 built with cgo wants github.com/DataDog/zstd to decompress into the memory of the
// cache's block. From v1.5.2 on, that package takes other memory for small blocks, and Pebble calls
// the block corrupt, and forgets to free it. Which version a program has, and whether it uses cgo,
// is not visible here.
var readZstd = sync.OnceValue(func() error {
	var table buffer
	w := sstable.NewWriter(&table, sstable.WriterOptions{Compression: pebble.ZstdCompression})
	value := make([]byte, 1000) // zeros, because Pebble stores a block raw if that is not longer
	if err := errors.Join(w.Set([]byte("key"), value), w.Close()); err != nil {
		return err
	}
	r, err := sstable.NewMemReader(table.Bytes(), sstable.ReaderOptions{})
	if err != nil {
		return err
	}
	iter, err := r.NewIter(nil, nil)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	iter.First()
	return errors.Join(iter.Close(), r.Close()) // Close returns the error of First
})

// buffer is an objstorage.Writable in memory.
type buffer struct{ bytes.Buffer }

func (b *buffer) Write(p []byte) error {
	_, err := b.Buffer.Write(p)
	return err
}

func (b *buffer) Finish() error { return nil }
func (b *buffer) Abort()        {}

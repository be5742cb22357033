package pebblev2_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// What the tests need of Pebble and what differs between its versions is in this file.

// formats are the oldest and the newest format of a database: row blocks and columnar ones.
var formats = []pebble.FormatMajorVersion{pebble.FormatMinSupported, pebble.FormatNewest}

// comparers order keys by their bytes. The first has whole keys in the filters, the second the
// first 8 bytes of each.
var comparers = []*pebble.Comparer{pebble.DefaultComparer, {
	Name:                 "levelbloom.test.prefix8",
	AbbreviatedKey:       pebble.DefaultComparer.AbbreviatedKey,
	Separator:            pebble.DefaultComparer.Separator,
	Successor:            pebble.DefaultComparer.Successor,
	Compare:              bytes.Compare,
	ComparePointSuffixes: bytes.Compare,
	Split:                func(key []byte) int { return min(len(key), 8) },
	ImmediateSuccessor:   nextPrefix,
}}

// small returns options in memory that bring a few hundred kilobytes to several levels.
func small(format pebble.FormatMajorVersion) *pebble.Options {
	o := &pebble.Options{
		FormatMajorVersion:    format,
		Comparer:              comparers[0],
		FS:                    vfs.NewMem(),
		MemTableSize:          256 << 10,
		LBaseMaxBytes:         32 << 10,
		L0CompactionThreshold: 2,
		Logger:                quiet{},
		EventListener: &pebble.EventListener{ // or Pebble would end the process
			DataCorruption: func(pebble.DataCorruptionInfo) {},
		},
	}
	o.TargetFileSizes[0] = 8 << 10
	return o
}

// flat gives tables the same size in all levels.
func flat(o *pebble.Options, size int64) *pebble.Options {
	for level := range o.TargetFileSizes {
		o.TargetFileSizes[level] = size
	}
	return o
}

// ensured returns a copy of o with Pebble's defaults filled in.
func ensured(o *pebble.Options) *pebble.Options {
	o = o.Clone()
	o.EnsureDefaults()
	return o
}

// compactRange merges the tables of each level that overlap with the keys from start to end.
func compactRange(db *pebble.DB, start, end []byte) error {
	return db.Compact(context.Background(), start, end, false)
}

func ingest(db *pebble.DB, path string) error {
	return db.Ingest(context.Background(), []string{path})
}

// tableFormat is the format in which db writes its tables.
func tableFormat(db *pebble.DB) sstable.TableFormat { return db.TableFormat() }

// createTable returns a writer of a table.
func createTable(fs vfs.FS, path string, o sstable.WriterOptions) (*sstable.Writer, error) {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return sstable.NewWriter(objstorageprovider.NewFileWritable(file), o), nil
}

// layoutOf returns where a table has its blocks.
func layoutOf(t testing.TB, o *pebble.Options, path string) *sstable.Layout {
	file, err := o.FS.Open(path)
	require.NoError(t, err)
	readable, err := sstable.NewSimpleReadable(file)
	require.NoError(t, err)
	r, err := sstable.NewReader(context.Background(), readable, ensured(o).MakeReaderOptions())
	require.NoError(t, err)
	layout, err := r.Layout()
	require.NoError(t, errors.Join(err, r.Close()))
	return layout
}

// hidden is of how many of two virtual tables Pebble does not report the filters.
const hidden = 2

// getComparers are those with which TestGetRandomly runs.
var getComparers = []*pebble.Comparer{pebble.DefaultComparer, {
	Name:                 "levelbloom.test.versions",
	AbbreviatedKey:       abbreviatePrefix,
	Separator:            func(dst, a, _ []byte) []byte { return append(dst, a...) },
	Successor:            func(dst, a []byte) []byte { return append(dst, a...) },
	Compare:              compareVersionedKeys,
	ComparePointSuffixes: compareVersions,
	Split:                splitVersion,
	ImmediateSuccessor:   pebble.DefaultComparer.ImmediateSuccessor,
}}

// smallBlocks makes small blocks, so that tables of some kilobytes have indexes in parts.
func smallBlocks(o *pebble.Options) {
	for level := range o.Levels {
		o.Levels[level].BlockSize = 1 << 10
		o.Levels[level].IndexBlockSize = 256
	}
}

// keepApart stores values from 64 bytes on in blob files.
func keepApart(o *pebble.Options) {
	o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{
			Enabled: true, MinimumSize: 64, MaxBlobReferenceDepth: 5,
		}
	}
}

func ingestAndExcise(db *pebble.DB, path string, start, end []byte) error {
	_, err := db.IngestAndExcise(context.Background(), []string{path}, nil, nil,
		pebble.KeyRange{Start: start, End: end})
	return err
}

// ingestExternal ingests a table with the keys of a span from remote storage. There its keys lack
// their first byte. If suffix is not nil, all get it in place of their version.
func ingestExternal(db *pebble.DB, o *pebble.Options, storage remote.Storage, name string,
	changes []enginetest.Change, span pebble.KeyRange, suffix []byte) error {
	for i := range changes {
		changes[i].Key = changes[i].Key[1:]
	}
	if err := writeTableFor(db, o, name, changes); err != nil {
		return err
	}
	local, err := o.FS.Open(name)
	if err != nil {
		return err
	}
	uploaded, err := storage.CreateObject(name)
	if err != nil {
		return errors.Join(err, local.Close())
	}
	size, err := io.Copy(uploaded, local)
	if err := errors.Join(err, local.Close(), uploaded.Close()); err != nil {
		return err
	}
	_, err = db.IngestExternalFiles(context.Background(), []pebble.ExternalFile{{
		ObjName: name, Size: uint64(size), StartKey: span.Start, EndKey: span.End, HasPointKey: true,
		SyntheticPrefix: []byte("k"), SyntheticSuffix: suffix,
	}})
	return err
}

// download brings tables from remote storage: it copies them (sstable.CopySpan), which drops the
// mark and keeps the filter, or rewrites them.
func download(db *pebble.DB, copied bool) error {
	return db.Download(context.Background(), []pebble.DownloadSpan{{
		StartKey: []byte("a"), EndKey: []byte("z"), ViaBackingFileDownload: copied,
	}})
}

// hasAllocations is how often Has allocates for an absent key.
const hasAllocations = 0

// marks reports whether databases of a format store the mark.
func marks(_ pebble.FormatMajorVersion) bool { return true }

// mostCollectors is how many block property collectors a program may have besides the mark.
const mostCollectors = 254

// requireSound requires that Pebble finds no fault in db's levels.
func requireSound(t testing.TB, db *pebble.DB) { require.NoError(t, db.CheckLevels(nil)) }

// indexBlocks sets the size of the index blocks of a level.
func indexBlocks(o *pebble.Options, level, size int) { o.Levels[level].IndexBlockSize = size }

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

// rewrites reports whether Rewrite takes databases of a format.
func rewrites(pebble.FormatMajorVersion) bool { return true }

// validating has Pebble ask about each key of a database.
func validating(o *pebble.Options, ask func(key []byte) error) {
	comparer := *o.Comparer
	comparer.ValidateKey = ask
	o.Comparer = &comparer
}

func (s *strict) AddPointKey(key pebble.InternalKey, _ []byte) error {
	s.lacksPoint = false
	return s.ask(key.UserKey, false)
}

func (s *strict) AddRangeKeys(span sstable.Span) error {
	return errors.Join(s.ask(span.Start, true), s.ask(span.End, true))
}

package pebblev1_test

import (
	"errors"
	"os"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/objstorage"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/objstorage/remote"
	"github.com/cockroachdb/pebble/sstable"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// What the tests need of Pebble and what differs between its versions is in this file.

// formats are the default format of a database, which is the oldest, and the newest.
var formats = []pebble.FormatMajorVersion{pebble.FormatMostCompatible, pebble.FormatNewest}

// comparers order keys by their bytes. The first has whole keys in the filters, by the Split that
// Configure gives the default comparer, the second the first 8 bytes of each.
var comparers = func() []*pebble.Comparer {
	p, err := policy.NewRibbon(10)
	o := new(pebble.Options)
	if err = errors.Join(err, pebblev1.Configure(o, p)); err != nil {
		panic(err)
	}
	prefix8 := *o.Comparer
	prefix8.Name, prefix8.ImmediateSuccessor = "levelbloom.test.prefix8", nextPrefix
	prefix8.Split = func(key []byte) int { return min(len(key), 8) }
	return []*pebble.Comparer{o.Comparer, &prefix8}
}()

// compression is what the tests' databases compress with. With cgo and the zstd that Pebble v2
// requires, as in a workspace of both, Pebble v1 cannot read its own zstd.
var compression = func() pebble.Compression {
	if os.Getenv("LEVELBLOOM_REQUIRE_ZSTD") != "" {
		return pebble.ZstdCompression
	}
	return pebble.SnappyCompression
}()

// small returns options in memory that bring a few hundred kilobytes to several levels.
func small(format pebble.FormatMajorVersion) *pebble.Options {
	return &pebble.Options{
		FormatMajorVersion:    format,
		Comparer:              comparers[0],
		FS:                    vfs.NewMem(),
		MemTableSize:          256 << 10,
		LBaseMaxBytes:         32 << 10,
		L0CompactionThreshold: 2,
		Logger:                quiet{},
		Levels: []pebble.LevelOptions{
			{TargetFileSize: 8 << 10, Compression: compression},
		},
	}
}

// flat gives tables the same size in all levels.
func flat(o *pebble.Options, size int64) *pebble.Options {
	var levels []pebble.LevelOptions
	for level := range 7 {
		l := o.Level(level)
		l.TargetFileSize = size
		levels = append(levels, l)
	}
	o.Levels = levels
	return o
}

// ensured returns a copy of o with Pebble's defaults filled in.
func ensured(o *pebble.Options) *pebble.Options {
	o = o.Clone()
	o.Levels = append(
		[]pebble.LevelOptions(nil),
		o.Levels...) // Clone shares them, and EnsureDefaults writes to them
	return o.EnsureDefaults()
}

// compactRange merges the tables of each level that overlap with the keys from start to end.
func compactRange(db *pebble.DB, start, end []byte) error { return db.Compact(start, end, false) }

func ingest(db *pebble.DB, path string) error { return db.Ingest([]string{path}) }

// tableFormat is the format in which db writes its tables.
func tableFormat(db *pebble.DB) sstable.TableFormat {
	return db.FormatMajorVersion().MaxTableFormat()
}

// createTable returns a writer of a table.
func createTable(fs vfs.FS, path string, o sstable.WriterOptions) (*sstable.Writer, error) {
	file, err := fs.Create(path)
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
	r, err := sstable.NewReader(readable, ensured(o).MakeReaderOptions())
	require.NoError(t, err)
	layout, err := r.Layout()
	require.NoError(t, errors.Join(err, r.Close()))
	return layout
}

// hidden is of how many of two virtual tables Pebble does not report the filters.
const hidden = 0

// getComparers are those with which TestGetRandomly runs.
var getComparers = []*pebble.Comparer{pebble.DefaultComparer, {
	Name:               "levelbloom.test.versions",
	AbbreviatedKey:     abbreviatePrefix,
	FormatKey:          pebble.DefaultComparer.FormatKey,
	Separator:          func(dst, a, _ []byte) []byte { return append(dst, a...) },
	Successor:          func(dst, a []byte) []byte { return append(dst, a...) },
	Compare:            compareVersionedKeys,
	Equal:              func(a, b []byte) bool { return compareVersionedKeys(a, b) == 0 },
	Split:              splitVersion,
	ImmediateSuccessor: pebble.DefaultComparer.ImmediateSuccessor,
}}

// smallBlocks makes small blocks, so that tables of some kilobytes have indexes in parts.
func smallBlocks(o *pebble.Options) {
	o.Levels = []pebble.LevelOptions{
		{BlockSize: 1 << 10, IndexBlockSize: 256, Compression: compression},
	}
}

// keepApart stores values of older versions in blocks of their own.
func keepApart(o *pebble.Options) {
	o.Experimental.EnableValueBlocks = func() bool { return true }
}

func ingestAndExcise(db *pebble.DB, path string, start, end []byte) error {
	_, err := db.IngestAndExcise([]string{path}, nil, pebble.KeyRange{Start: start, End: end})
	return err
}

// ingestExternal ingests a table from local storage: Pebble v1 does not find those from remote
// storage when it opens the database again.
func ingestExternal(db *pebble.DB, o *pebble.Options, _ remote.Storage, path string,
	changes []enginetest.Change, _ pebble.KeyRange, _ []byte) error {
	if err := writeTableFor(db, o, path, changes); err != nil {
		return err
	}
	return ingest(db, path)
}

// download does nothing: only Pebble v2 has it.
func download(*pebble.DB, bool) error { return nil }

// hasAllocations is how often Has allocates for an absent key.
const hasAllocations = 1

// marks reports whether databases of a format store the mark.
func marks(format pebble.FormatMajorVersion) bool {
	return format >= pebble.FormatBlockPropertyCollector
}

// mostCollectors is how many block property collectors a program may have besides the mark.
const mostCollectors = 125

// requireSound requires that Pebble finds no fault in db's levels.
func requireSound(t testing.TB, db *pebble.DB) { require.NoError(t, db.CheckLevels(nil)) }

// indexBlocks sets the size of the index blocks of a level.
func indexBlocks(o *pebble.Options, level, size int) {
	for len(o.Levels) <= level {
		o.Levels = append(o.Levels, pebble.LevelOptions{})
	}
	o.Levels[level].IndexBlockSize = size
}

// createWritable returns a file for a table.
func createWritable(t testing.TB, fs vfs.FS, path string) objstorage.Writable {
	file, err := fs.Create(path)
	require.NoError(t, err)
	return objstorageprovider.NewFileWritable(file)
}

// rewrites reports whether Rewrite takes databases of a format.
func rewrites(format pebble.FormatMajorVersion) bool { return format >= pebble.FormatRangeKeys }

// validating has Pebble ask about each key of a database.
func validating(o *pebble.Options, ask func(key []byte) error) {
	o.Experimental.KeyValidationFunc = ask
}

func (s *strict) Add(key pebble.InternalKey, _ []byte) error {
	ranged := key.Kind() == pebble.InternalKeyKindRangeKeyUnset
	s.lacksPoint = s.lacksPoint && ranged
	return s.ask(key.UserKey, ranged)
}

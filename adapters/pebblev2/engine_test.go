package pebblev2_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
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

// nextPrefix appends the prefix that comes after prefix, which is not the last.
func nextPrefix(dst, prefix []byte) []byte {
	dst = append(dst, prefix...)
	if len(prefix) < 8 {
		return append(dst, 0)
	}
	for i := len(dst) - 1; ; i-- {
		dst[i]++
		if dst[i] != 0 {
			return dst
		}
	}
}

// small returns options on disk that bring a few hundred kilobytes to several levels.
func small(format pebble.FormatMajorVersion) *pebble.Options {
	o := &pebble.Options{
		FormatMajorVersion:    format,
		Comparer:              comparers[0],
		FS:                    vfs.Default,
		MemTableSize:          256 << 10,
		LBaseMaxBytes:         32 << 10,
		L0CompactionThreshold: 2,
		Logger:                quiet{},
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

// large makes tables of thousands of keys.
func large(o *pebble.Options) *pebble.Options {
	o.MemTableSize = 1 << 20
	o.LBaseMaxBytes = 96 << 10
	return flat(o, 1<<20)
}

// quiet keeps Pebble's reports out of the tests' output.
type quiet struct{}

func (quiet) Infof(string, ...interface{})              {}
func (quiet) Errorf(string, ...interface{})             {}
func (quiet) Fatalf(format string, args ...interface{}) { panic(fmt.Sprintf(format, args...)) }

// ensured returns a copy of o with Pebble's defaults filled in.
func ensured(o *pebble.Options) *pebble.Options {
	o = o.Clone()
	o.EnsureDefaults()
	return o
}

// filterAt returns the policy that o has in effect for a level.
func filterAt(o *pebble.Options, level int) pebble.FilterPolicy {
	return ensured(o).Levels[level].FilterPolicy
}

func compactAll(db *pebble.DB) error {
	return db.Compact(context.Background(), []byte{0}, bytes.Repeat([]byte{0xff}, 100), false)
}

func ingest(db *pebble.DB, path string) error {
	return db.Ingest(context.Background(), []string{path})
}

// tableFormats are the formats of a single table.
func tableFormats() (all []sstable.TableFormat) {
	for f := sstable.TableFormatMinSupported; f <= sstable.TableFormatMax; f++ {
		all = append(all, f)
	}
	return all
}

// tableFormat is the format in which db writes its tables.
func tableFormat(db *pebble.DB) sstable.TableFormat { return db.TableFormat() }

// writeTable writes a table through the builder's door, with points and with deletions of ranges.
func writeTable(
	t testing.TB,
	path string,
	format sstable.TableFormat,
	f pebble.FilterPolicy,
	keys [][]byte,
	deleted ...[2]string,
) {
	file, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(file), sstable.WriterOptions{
		TableFormat:  format,
		FilterPolicy: f,
	})
	for _, key := range keys {
		require.NoError(t, w.Set(key, value(key)))
	}
	for _, r := range deleted {
		require.NoError(t, w.DeleteRange([]byte(r[0]), []byte(r[1])))
	}
	require.NoError(t, w.Close())
}

// writeTableFor writes a table as a database with options o would.
func writeTableFor(
	path string, o *pebble.Options, format sstable.TableFormat, changes []enginetest.Change,
) error {
	file, err := o.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(file),
		ensured(o).MakeWriterOptions(0, format))
	for _, c := range changes {
		if c.Value == nil {
			err = w.Delete(c.Key)
		} else {
			err = w.Set(c.Key, c.Value)
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// lostInTable reads a table through the reader's door and returns how many of keys a search with
// the filter does not find.
func lostInTable(
	t testing.TB, path string, filters map[string]pebble.FilterPolicy, keys [][]byte,
) (lost int) {
	file, err := vfs.Default.Open(path)
	require.NoError(t, err)
	readable, err := sstable.NewSimpleReadable(file)
	require.NoError(t, err)
	r, err := sstable.NewReader(context.Background(), readable,
		sstable.ReaderOptions{Filters: filters})
	require.NoError(t, err)
	iter, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	require.NoError(t, err)
	for _, key := range keys {
		if kv := iter.SeekPrefixGE(key, key, 0); kv == nil || !bytes.Equal(kv.K.UserKey, key) {
			lost++
		}
	}
	require.NoError(t, iter.Close())
	require.NoError(t, r.Close())
	return lost
}

// noFilter is what stands for "none".
var noFilter = pebble.NoFilterPolicy

// toolComparer is one with which Pebble's tools seek prefixes; that of prefix8 would need a key
// schema of its own.
var toolComparer = comparers[0]

// ingestExternal ingests a table with points from remote storage.
func ingestExternal(t testing.TB, db *pebble.DB, name string, size uint64, start, end []byte) {
	_, err := db.IngestExternalFiles(context.Background(), []pebble.ExternalFile{{
		ObjName: name, Size: size, StartKey: start, EndKey: end, HasPointKey: true,
	}})
	require.NoError(t, err)
}

// virtualFilter is what FiltersOnDisk tells of a virtual table.
var virtualFilter = pebblev2.LevelFilters{ByName: map[string]int{}, Unknown: 1}

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

// smallBlocks makes tables with several blocks and two-level indexes, and keeps some values apart.
func smallBlocks(o *pebble.Options, rng *rand.Rand) {
	for level := range o.Levels {
		o.Levels[level].BlockSize = 1 << 10
		o.Levels[level].IndexBlockSize = 256
	}
	flat(o, 16<<10)
	if rng.Intn(2) == 0 {
		keepApart(o)
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

// ingestExternal ingests a table from remote storage. Its keys lack their first byte, and with the
// right comparer all get another version.
func (d *differ) ingestExternal(name string, changes []enginetest.Change, start, end []byte) error {
	file := pebble.ExternalFile{
		ObjName: name, StartKey: start, EndKey: end, HasPointKey: true,
		SyntheticPrefix: []byte("k"),
	}
	if d.comparer.Name != pebble.DefaultComparer.Name && d.rng.Intn(2) == 0 {
		file.SyntheticSuffix = []byte("@6")
	}
	for i := range changes {
		changes[i].Key = changes[i].Key[1:]
	}
	require.NoError(d.t, writeTableFor(name, d.options, tableFormat(d.db), changes))
	file.Size = upload(d.t, d.fs, d.remote, name, name)
	_, err := d.db.IngestExternalFiles(context.Background(), []pebble.ExternalFile{file})
	return err
}

// hasAllocations is how often Has allocates.
const hasAllocations = 0
